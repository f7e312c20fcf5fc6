// SPDX-License-Identifier: Apache-2.0
//
// Encodes and decodes replies; see message.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/terminal_text.h"
#include "lease/protocol/fields.h"
#include "lease/protocol/message.h"
#include "lease/protocol/tags.h"

namespace hypermile::wire {
namespace {

void write_error(FrameWriter& writer, const Error& error) {
  writer.text(tags::kErrorCode, to_string(error.code))
      .text(tags::kMessage, harmless(error.message, kMostTextBytes))
      .text(tags::kRemedy, harmless(error.remedy, kMostTextBytes));
}

// Not a Result<Error>, which could not distinguish the error that was read from a failure to read.
Result<void> read_error(const Fields& fields, Error& error) {
  ASSIGN_OR_RETURN(const std::string_view code, fields.text(tags::kErrorCode));
  ASSIGN_OR_RETURN(const std::string_view message, fields.text(tags::kMessage));
  ASSIGN_OR_RETURN(const std::string_view remedy, fields.text(tags::kRemedy));
  error = Error{error_code_from(code), harmless(message, kMostTextBytes),
                harmless(remedy, kMostTextBytes)};
  return {};
}

// Writes the fields of `inner` as one field of `outer`. If they do not fit, finish() of `outer`
// fails too.
void write_nested(FrameWriter& outer, std::uint8_t tag, const FrameWriter& inner) {
  const Result<std::string> frame = inner.finish();
  static const std::string too_large(kMostBodyBytes, ' ');
  outer.text(tag, frame ? std::string_view(*frame).substr(kFrameHeaderBytes) : too_large);
}

class ReplyEncoder {
 public:
  explicit ReplyEncoder(std::uint64_t sequence) : sequence_(sequence) {}

  FrameWriter operator()(const Error& error) const {
    FrameWriter writer = start_message(tags::kRefused, sequence_);
    write_error(writer, error);
    return writer;
  }
  FrameWriter operator()(const Done&) const { return start_message(tags::kDone, sequence_); }
  FrameWriter operator()(const Granted& granted) const {
    FrameWriter writer = start_message(tags::kGranted, sequence_);
    writer.number(tags::kLease, granted.lease).real(tags::kTtl, granted.ttl.value());
    if (granted.longest) writer.real(tags::kLongest, granted.longest->value());
    if (!granted.bounds) return writer;
    for (const Knob knob : kAllKnobs) {
      write_nested(writer, tags::kKnob, of(knob, granted.bounds->range(knob)));
    }
    return writer;
  }
  FrameWriter operator()(const Applied& applied) const {
    FrameWriter writer = start_message(tags::kApplied, sequence_);
    write_setting(writer, applied.setting);
    for (const Error& problem : applied.problems) {
      FrameWriter inner;
      write_error(inner, problem);
      write_nested(writer, tags::kProblem, inner);
    }
    return writer;
  }
  FrameWriter operator()(const LeaseList& list) const {
    FrameWriter writer = start_message(tags::kLeases, sequence_);
    for (const LeaseEntry& entry : list.leases) write_nested(writer, tags::kLeaseEntry, of(entry));
    return writer;
  }
  FrameWriter operator()(const DaemonStatus& status) const {
    FrameWriter writer = start_message(tags::kDaemonStatus, sequence_);
    writer.text(tags::kProgram, status.version)
        .number(tags::kPid, status.pid)
        .number(tags::kGuardian, status.guardian ? 1 : 0)
        .number(tags::kAdministrator, status.administrator ? 1 : 0)
        .number(tags::kClosed, status.closed ? 1 : 0)
        .text(tags::kTrouble, harmless(status.trouble, kMostTextBytes));
    for (const GpuStatus& gpu : status.gpus) {
      FrameWriter inner;
      inner.text(tags::kGpu, gpu.gpu.text())
          .number(tags::kAllowed, gpu.allowed ? 1 : 0)
          .text(tags::kTrouble, harmless(gpu.trouble, kMostTextBytes));
      if (!gpu.read_back.empty()) {
        inner.text(tags::kReadBack, harmless(gpu.read_back, kMostTextBytes));
      }
      write_nested(writer, tags::kGpuEntry, inner);
    }
    for (const Count& count : status.counts) {
      FrameWriter inner;
      inner.text(tags::kName, count.name).number(tags::kValue, count.value);
      write_nested(writer, tags::kCount, inner);
    }
    return writer;
  }

 private:
  // A range without an upper end has no field for it, because a real is finite.
  static FrameWriter of(Knob knob, const std::optional<KnobRange>& range) {
    FrameWriter writer;
    writer.text(tags::kName, to_string(knob)).number(tags::kAllowed, range ? 1 : 0);
    if (!range) return writer;
    writer.real(tags::kLeast, range->min);
    if (std::isfinite(range->max)) writer.real(tags::kMost, range->max);
    return writer;
  }
  static FrameWriter of(const LeaseEntry& entry) {
    FrameWriter writer;
    writer.number(tags::kLease, entry.lease)
        .number(tags::kUid, entry.uid)
        .number(tags::kPid, entry.pid)
        .text(tags::kClient, harmless(entry.program, kMostNameBytes))
        .text(tags::kJob, harmless(entry.job, kMostNameBytes))
        .real(tags::kSince, entry.since_unix)
        .real(tags::kExpiresIn, entry.expires_in.value());
    for (const LeasedGpu& gpu : entry.gpus) {
      FrameWriter inner;
      inner.text(tags::kGpu, gpu.gpu.text()).number(tags::kRestoring, gpu.restoring ? 1 : 0);
      write_setting(inner, gpu.requested);
      write_nested(writer, tags::kGpuEntry, inner);
    }
    return writer;
  }

  std::uint64_t sequence_;
};

// A knob that is not known here is skipped: a later version may have more.
Result<void> decode_knob(std::string_view nested, Bounds& bounds) {
  ASSIGN_OR_RETURN(const Fields fields, Fields::parse(nested));
  ASSIGN_OR_RETURN(const std::string_view name, fields.text(tags::kName));
  ASSIGN_OR_RETURN(const bool allowed, read_flag(fields, tags::kAllowed));
  if (!allowed) return {};
  KnobRange range;
  ASSIGN_OR_RETURN(range.min, fields.real(tags::kLeast));
  if (fields.has(tags::kMost)) {
    ASSIGN_OR_RETURN(range.max, fields.real(tags::kMost));
  }
  if (name == to_string(Knob::kSmClock)) bounds.sm_clock = range;
  if (name == to_string(Knob::kMemoryClock)) bounds.memory_clock = range;
  if (name == to_string(Knob::kPowerLimit)) bounds.power_limit = range;
  return {};
}

Result<Reply> decode_granted(const Fields& fields) {
  Granted granted;
  ASSIGN_OR_RETURN(granted.lease, fields.number(tags::kLease));
  ASSIGN_OR_RETURN(granted.ttl, read_seconds(fields, tags::kTtl));
  if (fields.has(tags::kLongest)) {
    ASSIGN_OR_RETURN(granted.longest, read_seconds(fields, tags::kLongest));
  }
  for (const std::string_view nested : fields.texts(tags::kKnob)) {
    if (!granted.bounds) granted.bounds.emplace();
    RETURN_IF_ERROR(decode_knob(nested, *granted.bounds));
  }
  return Reply(granted);
}

Result<Reply> decode_applied(const Fields& fields) {
  Applied applied;
  ASSIGN_OR_RETURN(applied.setting, read_setting(fields));
  for (const std::string_view nested : fields.texts(tags::kProblem)) {
    ASSIGN_OR_RETURN(const Fields inner, Fields::parse(nested));
    Error problem;
    RETURN_IF_ERROR(read_error(inner, problem));
    applied.problems.push_back(std::move(problem));
  }
  return Reply(std::move(applied));
}

Result<LeasedGpu> decode_leased_gpu(std::string_view nested) {
  ASSIGN_OR_RETURN(const Fields fields, Fields::parse(nested));
  LeasedGpu gpu;
  ASSIGN_OR_RETURN(const std::string_view uuid, fields.text(tags::kGpu));
  ASSIGN_OR_RETURN(gpu.gpu, read_gpu(uuid));
  ASSIGN_OR_RETURN(gpu.restoring, read_flag(fields, tags::kRestoring));
  ASSIGN_OR_RETURN(gpu.requested, read_setting(fields));
  return gpu;
}

Result<LeaseEntry> decode_lease_entry(std::string_view nested) {
  ASSIGN_OR_RETURN(const Fields fields, Fields::parse(nested));
  LeaseEntry entry;
  ASSIGN_OR_RETURN(entry.lease, fields.number(tags::kLease));
  ASSIGN_OR_RETURN(entry.uid, fields.number(tags::kUid));
  ASSIGN_OR_RETURN(entry.pid, fields.number(tags::kPid));
  ASSIGN_OR_RETURN(const std::string_view program, fields.text(tags::kClient));
  entry.program = harmless(program, kMostNameBytes);
  ASSIGN_OR_RETURN(const std::string_view job, fields.text(tags::kJob));
  entry.job = harmless(job, kMostNameBytes);
  ASSIGN_OR_RETURN(entry.since_unix, fields.real(tags::kSince));
  ASSIGN_OR_RETURN(const double expires, fields.real(tags::kExpiresIn));
  entry.expires_in = Seconds(expires);
  for (const std::string_view gpu : fields.texts(tags::kGpuEntry)) {
    ASSIGN_OR_RETURN(LeasedGpu leased, decode_leased_gpu(gpu));
    entry.gpus.push_back(std::move(leased));
  }
  return entry;
}

Result<Reply> decode_leases(const Fields& fields) {
  LeaseList list;
  for (const std::string_view nested : fields.texts(tags::kLeaseEntry)) {
    ASSIGN_OR_RETURN(LeaseEntry entry, decode_lease_entry(nested));
    list.leases.push_back(std::move(entry));
  }
  return Reply(std::move(list));
}

Result<GpuStatus> decode_gpu_status(std::string_view nested) {
  ASSIGN_OR_RETURN(const Fields fields, Fields::parse(nested));
  GpuStatus status;
  ASSIGN_OR_RETURN(const std::string_view uuid, fields.text(tags::kGpu));
  ASSIGN_OR_RETURN(status.gpu, read_gpu(uuid));
  ASSIGN_OR_RETURN(status.allowed, read_flag(fields, tags::kAllowed));
  ASSIGN_OR_RETURN(const std::string_view trouble, fields.text(tags::kTrouble));
  status.trouble = harmless(trouble, kMostTextBytes);
  if (fields.has(tags::kReadBack)) {
    ASSIGN_OR_RETURN(const std::string_view read_back, fields.text(tags::kReadBack));
    status.read_back = harmless(read_back, kMostTextBytes);
  }
  return status;
}

Result<Reply> decode_daemon_status(const Fields& fields) {
  DaemonStatus status;
  ASSIGN_OR_RETURN(const std::string_view version, fields.text(tags::kProgram));
  status.version = harmless(version, kMostTextBytes);
  ASSIGN_OR_RETURN(status.pid, fields.number(tags::kPid));
  ASSIGN_OR_RETURN(status.guardian, read_flag(fields, tags::kGuardian));
  ASSIGN_OR_RETURN(status.administrator, read_flag(fields, tags::kAdministrator));
  ASSIGN_OR_RETURN(status.closed, read_flag(fields, tags::kClosed));
  ASSIGN_OR_RETURN(const std::string_view trouble, fields.text(tags::kTrouble));
  status.trouble = harmless(trouble, kMostTextBytes);
  for (const std::string_view nested : fields.texts(tags::kGpuEntry)) {
    ASSIGN_OR_RETURN(GpuStatus gpu, decode_gpu_status(nested));
    status.gpus.push_back(std::move(gpu));
  }
  for (const std::string_view nested : fields.texts(tags::kCount)) {
    ASSIGN_OR_RETURN(const Fields inner, Fields::parse(nested));
    Count count;
    ASSIGN_OR_RETURN(const std::string_view name, inner.text(tags::kName));
    count.name = harmless(name, kMostNameBytes);
    ASSIGN_OR_RETURN(count.value, inner.number(tags::kValue));
    status.counts.push_back(std::move(count));
  }
  return Reply(std::move(status));
}

Result<Reply> decode_reply_of_type(std::uint64_t type, const Fields& fields) {
  switch (type) {
    case tags::kRefused: {
      Error error;
      RETURN_IF_ERROR(read_error(fields, error));
      return Reply(std::move(error));
    }
    case tags::kDone:
      return Reply(Done{});
    case tags::kGranted:
      return decode_granted(fields);
    case tags::kApplied:
      return decode_applied(fields);
    case tags::kLeases:
      return decode_leases(fields);
    case tags::kDaemonStatus:
      return decode_daemon_status(fields);
    default:
      return malformed(fmt::format("the reply type {} is unknown", type));
  }
}

}  // namespace

bool Granted::allows(const Setting& setting) const {
  if (!bounds) return true;
  return std::ranges::all_of(kAllKnobs, [&](Knob knob) {
    const std::optional<double> value = setting.value(knob);
    if (!value) return true;
    const std::optional<KnobRange>& range = bounds->range(knob);
    return range && *value >= range->min && *value <= range->max;
  });
}

Result<std::string> encode_reply(const Numbered<Reply>& reply) {
  return std::visit(ReplyEncoder(reply.sequence), reply.message).finish();
}

Result<Numbered<Reply>> decode_reply(std::string_view body) {
  ASSIGN_OR_RETURN(const Fields fields, Fields::parse(body));
  ASSIGN_OR_RETURN(const Opening opening, read_opening(fields));
  ASSIGN_OR_RETURN(Reply reply, decode_reply_of_type(opening.type, fields));
  return Numbered<Reply>{opening.sequence, std::move(reply)};
}

}  // namespace hypermile::wire
