// SPDX-License-Identifier: Apache-2.0
#include "predict/counters/counter_sampler.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

// A sample holds everything counted since the sample before, so a longer interval loses nothing,
// and this one is short enough for counters of 32 bits. Every unit of a busy chip writes a record
// for each sample: at one sample per millisecond, an H200 filled 16 MiB before they were read.
constexpr std::uint64_t kIntervalNanoseconds = 5'000'000;
constexpr std::uint64_t kIntervalClocks = 5'000'000;
constexpr std::size_t kBufferBytes = std::size_t(64) << 20U;
constexpr Seconds kDecodePeriod = Seconds(0.05);
constexpr std::uint32_t kMostSamples = 512;  // decoded at once

// Turing and GA100 cannot trigger samples by time.
bool has_time_trigger(const std::string& chip) {
  return !chip.starts_with("TU") && chip != "GA100";
}

Result<void> checked(const char* call, int code) {
  if (code == pm::kSuccess) return {};
  return counter_error(call, code);
}

}  // namespace

// Samples one group while it lives. The destructor ends whatever was begun.
class CounterSampler::Session {
 public:
  Session(const CounterLibrary& library, CounterHost& group) : library_(library), group_(group) {}
  ~Session() {
    auto params = pm::fresh<pm::OfSampling>();
    params.sampling = sampling_;
    if (started_) library_.stop(&params);
    if (sampling_ != nullptr) library_.disable(&params);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Result<void> start(std::size_t device, const std::string& chip) {
    auto enable = pm::fresh<pm::Enable>();
    enable.device = device;
    RETURN_IF_ERROR(checked("cuptiPmSamplingEnable", library_.enable(&enable)));
    sampling_ = enable.sampling;
    auto config = pm::fresh<pm::SetConfig>();
    config.sampling = sampling_;
    config.config_size = group_.config().size();
    config.config = group_.config().data();
    config.buffer_bytes = kBufferBytes;
    const bool timed = has_time_trigger(chip);
    config.trigger = timed ? pm::kTimeInterval : pm::kSysClockInterval;
    config.interval = timed ? kIntervalNanoseconds : kIntervalClocks;
    RETURN_IF_ERROR(checked("cuptiPmSamplingSetConfig", library_.set_config(&config)));
    auto size = pm::fresh<pm::DataSize>();
    size.sampling = sampling_;
    names_ = group_.names();
    size.names = names_.data();
    size.count = names_.size();
    size.most_samples = kMostSamples;
    RETURN_IF_ERROR(checked("cuptiPmSamplingGetCounterDataSize", library_.data_size(&size)));
    data_.resize(size.data_size);
    RETURN_IF_ERROR(clear());
    auto begin = pm::fresh<pm::OfSampling>();
    begin.sampling = sampling_;
    RETURN_IF_ERROR(checked("cuptiPmSamplingStart", library_.start(&begin)));
    started_ = true;
    return {};
  }

  // Hands every complete sample to `take`. Returns true where the card's buffer was full: samples
  // were lost and no more will come. Before the first sample, a full buffer is an error.
  template <class Take>
  Result<bool> drain(const Take& take) {
    bool lost = false;
    // One image may not hold all samples, so several are read; 16 at most, so that the loop ends.
    for (int images = 0; images < 16; ++images) {
      auto decode = pm::fresh<pm::Decode>();
      decode.sampling = sampling_;
      decode.data = data_.data();
      decode.data_size = data_.size();
      const int code = library_.decode(&decode);
      if (code == pm::kOutOfMemory && !first_) return true;
      RETURN_IF_ERROR(checked("cuptiPmSamplingDecodeData", code));
      lost = lost || decode.overflow != 0;
      RETURN_IF_ERROR(read_samples(take));
      RETURN_IF_ERROR(clear());
      if (decode.stop != pm::kDataFull) break;
    }
    return lost;
  }

 private:
  Result<void> clear() {
    auto params = pm::fresh<pm::DataInitialize>();
    params.sampling = sampling_;
    params.data_size = data_.size();
    params.data = data_.data();
    return checked("cuptiPmSamplingCounterDataImageInitialize", library_.data_initialize(&params));
  }

  template <class Take>
  Result<void> read_samples(const Take& take) {
    auto info = pm::fresh<pm::DataInfo>();
    info.data = data_.data();
    info.data_size = data_.size();
    RETURN_IF_ERROR(checked("cuptiPmSamplingGetCounterDataInfo", library_.data_info(&info)));
    std::vector<double> values(names_.size());
    auto evaluate = pm::fresh<pm::Evaluate>();
    evaluate.host = group_.handle();
    evaluate.data = data_.data();
    evaluate.data_size = data_.size();
    evaluate.names = names_.data();
    evaluate.count = names_.size();
    evaluate.values = values.data();
    for (std::size_t i = 0; i < std::min<std::size_t>(info.completed, kMostSamples); ++i) {
      evaluate.sample = i;
      RETURN_IF_ERROR(
          checked("cuptiProfilerHostEvaluateToGpuValues", library_.evaluate(&evaluate)));
      // The first sample also counts what happened before sampling began.
      if (!std::exchange(first_, false)) take(values);
    }
    return {};
  }

  const CounterLibrary& library_;
  CounterHost& group_;
  pm::Sampling sampling_ = nullptr;
  bool started_ = false;
  bool first_ = true;
  std::vector<const char*> names_;
  std::vector<std::uint8_t> data_;
};

Result<std::unique_ptr<CounterSampler>> CounterSampler::open(const CounterLibrary& library,
                                                             Clock& clock, const std::string& pci) {
  std::unique_ptr<CounterSampler> sampler(new CounterSampler(library, clock));
  RETURN_IF_ERROR(sampler->find_device(pci));
  auto initialize = pm::fresh<pm::ProfilerInitialize>();
  RETURN_IF_ERROR(checked("cuptiProfilerInitialize", library.profiler_initialize(&initialize)));
  auto name = pm::fresh<pm::ChipName>();
  name.device = sampler->device_;
  RETURN_IF_ERROR(checked("cuptiDeviceGetChipName", library.chip_name(&name)));
  sampler->chip_ = name.chip == nullptr ? "" : name.chip;
  ASSIGN_OR_RETURN(const auto available, sampler->read_availability());
  ASSIGN_OR_RETURN(sampler->groups_, group_counters(library, sampler->chip_, available));
  return sampler;
}

Result<void> CounterSampler::find_device(const std::string& pci) {
  if (const int code = library_.driver_init(0); code != 0) {
    return Error{ErrorCode::kNoDriver,
                 fmt::format("the CUDA driver cannot be initialised: code {}", code),
                 "run 'hypermile doctor' to see what this machine has"};
  }
  int device = 0;
  if (const int code = library_.device_by_pci(&device, pci.c_str()); code != 0 || device < 0) {
    return Error{ErrorCode::kNotFound, fmt::format("CUDA knows no GPU at {}: code {}", pci, code),
                 "a MIG slice or a card of another driver has no counters that can be sampled"};
  }
  device_ = static_cast<std::size_t>(device);
  return {};
}

Result<std::vector<std::uint8_t>> CounterSampler::read_availability() const {
  constexpr const char* kCall = "cuptiPmSamplingGetCounterAvailability";
  auto params = pm::fresh<pm::Availability>();
  params.device = device_;
  RETURN_IF_ERROR(checked(kCall, library_.availability(&params)));
  std::vector<std::uint8_t> image(params.image_size);
  params.image = image.data();
  RETURN_IF_ERROR(checked(kCall, library_.availability(&params)));
  return image;
}

Result<void> CounterSampler::take_turn(Seconds length, std::stop_token stop) {
  CounterHost& group = *groups_[next_++ % groups_.size()];
  Session session(library_, group);
  RETURN_IF_ERROR(session.start(device_, chip_));
  const Instant begin = clock_.now();
  const Instant end = begin + length;
  while (clock_.now() < end && !stop.stop_requested()) {
    clock_.sleep_until(std::min(clock_.now() + kDecodePeriod, end), stop);
    ASSIGN_OR_RETURN(const bool lost,
                     session.drain([&](const std::vector<double>& values) { add(group, values); }));
    overflowed_ = overflowed_ || lost;
    if (lost) break;
  }
  sampled_ += clock_.now() - begin;
  return {};
}

void CounterSampler::add(const CounterHost& group, const std::vector<double>& values) {
  Features features;
  std::size_t at = 0;
  for (const CounterForm& form : group.forms()) {
    double value = values[at++];
    if (form.added != nullptr) value += values[at++];
    features.set(form.feature, value * form.scale);
  }
  means_.add(features);
  ++samples_;
}

}  // namespace hypermile
