// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_open.h"

#include <utility>

namespace hypermile {

Result<GpuList> list_gpus_within(Seconds deadline, const std::string& path) {
  return call_with_deadline("list the GPUs", deadline, [path]() -> Result<GpuList> {
    ASSIGN_OR_RETURN(const auto library, open_nvml(path));
    return list_gpus(*library);
  });
}

Result<std::unique_ptr<DeadlineGpu>> open_gpu_with_deadlines(const GpuUuid& uuid, Clock& clock,
                                                             DeadlineGpu::Options options,
                                                             const std::string& path) {
  // A hung call may read its clock long after the caller's clock is gone.
  const std::shared_ptr<Clock> own_clock = make_real_clock();
  keep_forever(own_clock);
  DeadlineGpu::Opener opener = [path, uuid, own_clock]() -> Result<std::unique_ptr<Gpu>> {
    ASSIGN_OR_RETURN(auto library, open_nvml(path));
    return open_gpu(std::move(library), uuid, *own_clock);
  };
  return DeadlineGpu::open(std::move(opener), clock, options);
}

}  // namespace hypermile
