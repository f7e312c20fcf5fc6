// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as a journal: they parse or count as damage, and after a rewrite the next process
// finds the same changes. The same bytes are also read as a stream of frames.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "lease/frame.h"
#include "lease/journal.h"
#include "testing/faulty_files.h"

namespace hypermile {
namespace {

void read_frames(std::string_view stream) {
  for (;;) {
    const CutFrame frame = cut_frame(stream);
    if (frame.state != CutFrame::State::kWhole) return;
    if (frame.bytes > stream.size()) std::abort();
    const auto fields = Fields::parse(frame.body);
    if (fields) {
      // Fields that were read can be written again, as the same frame.
      FrameWriter writer;
      for (const Fields::Field& field : fields->all()) writer.text(field.tag, field.bytes);
      const auto again = writer.finish();
      if (!again || *again != stream.substr(0, frame.bytes)) std::abort();
    }
    stream.remove_prefix(frame.bytes);
  }
}

void replay(std::string bytes) {
  const MachineEpoch now{"boot", "driver"};
  const GpuUuid gpu("GPU-1");
  Fate fate;
  FaultyFiles::Disk disk;
  disk.names["/s/GPU-1.journal"] =
      std::make_shared<FaultyFiles::Inode>(FaultyFiles::Inode{std::move(bytes), 0});
  FaultyFiles files(disk, fate);
  const auto journal = Journal::open(files, "/s", gpu, now);
  if (journal->damage() && journal->changes().size() != std::size(kAllKnobs)) std::abort();
  const std::size_t before = journal->changes().size();
  const bool had_sm = journal->changes().count(Knob::kSmClock) != 0;
  journal->record_restored(Knob::kSmClock);
  const auto next = Journal::open(files, "/s", gpu, now);
  if (next->damage() && (had_sm || !journal->damage())) std::abort();
  if (!next->damage() && next->changes().size() != before - (had_sm ? 1 : 0)) std::abort();
}

// Packs the input into frames with correct checksums, which a fuzzer would not find by chance. Each
// body in the input follows a byte with its length.
std::string seal(std::string_view bodies) {
  std::string frames = to_frame(HeaderRecord{1, GpuUuid("GPU-1")});
  while (!bodies.empty()) {
    const auto size =
        std::min<std::size_t>(static_cast<unsigned char>(bodies[0]), bodies.size() - 1);
    const auto fields = Fields::parse(bodies.substr(1, size));
    FrameWriter writer;
    if (fields) {
      for (const Fields::Field& field : fields->all()) writer.text(field.tag, field.bytes);
    } else {
      writer.text(1, bodies.substr(1, size));
    }
    if (const auto frame = writer.finish()) frames += *frame;
    bodies.remove_prefix(size + 1);
  }
  return frames;
}

}  // namespace
}  // namespace hypermile

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  hypermile::read_frames(bytes);
  hypermile::replay(bytes);
  hypermile::replay(hypermile::seal(bytes));
  return 0;
}
