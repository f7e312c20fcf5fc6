// SPDX-License-Identifier: Apache-2.0
//
// Encodes and decodes requests; see message.h.
#include <fmt/format.h>

#include "base/terminal_text.h"
#include "lease/protocol/fields.h"
#include "lease/protocol/message.h"
#include "lease/protocol/tags.h"

namespace hypermile::wire {
namespace {

class RequestEncoder {
 public:
  explicit RequestEncoder(std::uint64_t sequence) : sequence_(sequence) {}

  FrameWriter operator()(const AcquireRequest& request) const {
    FrameWriter writer = start_message(tags::kAcquire, sequence_);
    for (const GpuUuid& gpu : request.gpus) writer.text(tags::kGpu, gpu.text());
    writer.real(tags::kTtl, request.ttl.value());
    writer.text(tags::kClient, harmless(request.program, kMostNameBytes));
    writer.text(tags::kJob, harmless(request.job, kMostNameBytes));
    return writer;
  }
  FrameWriter operator()(const SetRequest& request) const {
    FrameWriter writer = start_message(tags::kSet, sequence_);
    writer.number(tags::kLease, request.lease).text(tags::kGpu, request.gpu.text());
    write_setting(writer, request.setting);
    return writer;
  }
  FrameWriter operator()(const RenewRequest& request) const {
    return start_message(tags::kRenew, sequence_).number(tags::kLease, request.lease);
  }
  FrameWriter operator()(const ReleaseRequest& request) const {
    return start_message(tags::kRelease, sequence_).number(tags::kLease, request.lease);
  }
  FrameWriter operator()(const ListRequest&) const { return start_message(tags::kList, sequence_); }
  FrameWriter operator()(const StatusRequest&) const {
    return start_message(tags::kStatus, sequence_);
  }
  FrameWriter operator()(const ResetRequest& request) const {
    FrameWriter writer = start_message(tags::kReset, sequence_);
    for (const GpuUuid& gpu : request.gpus) writer.text(tags::kGpu, gpu.text());
    if (request.close) writer.number(tags::kClose, 1);
    if (request.reopen) writer.number(tags::kReopen, 1);
    if (request.hold) writer.real(tags::kHold, request.hold->value());
    return writer;
  }

 private:
  std::uint64_t sequence_;
};

Result<Request> decode_acquire(const Fields& fields) {
  AcquireRequest request;
  ASSIGN_OR_RETURN(request.gpus, read_gpus(fields));
  if (request.gpus.empty()) return malformed("a request for a lease names no GPU");
  ASSIGN_OR_RETURN(request.ttl, read_seconds(fields, tags::kTtl));
  ASSIGN_OR_RETURN(const std::string_view program, fields.text(tags::kClient));
  request.program = harmless(program, kMostNameBytes);
  ASSIGN_OR_RETURN(const std::string_view job, fields.text(tags::kJob));
  request.job = harmless(job, kMostNameBytes);
  return Request(std::move(request));
}

Result<Request> decode_set(const Fields& fields) {
  SetRequest request;
  ASSIGN_OR_RETURN(request.lease, fields.number(tags::kLease));
  ASSIGN_OR_RETURN(const std::string_view gpu, fields.text(tags::kGpu));
  ASSIGN_OR_RETURN(request.gpu, read_gpu(gpu));
  ASSIGN_OR_RETURN(request.setting, read_setting(fields));
  return Request(std::move(request));
}

Result<Request> decode_reset(const Fields& fields) {
  ResetRequest request;
  ASSIGN_OR_RETURN(request.gpus, read_gpus(fields));
  ASSIGN_OR_RETURN(request.close, read_flag(fields, tags::kClose));
  ASSIGN_OR_RETURN(request.reopen, read_flag(fields, tags::kReopen));
  if (fields.has(tags::kHold)) {
    ASSIGN_OR_RETURN(request.hold, read_seconds(fields, tags::kHold));
  }
  if (request.close && request.reopen)
    return malformed("a machine cannot be closed and reopened at once");
  return Request(std::move(request));
}

Result<Request> decode_request_of_type(std::uint64_t type, const Fields& fields) {
  switch (type) {
    case tags::kAcquire:
      return decode_acquire(fields);
    case tags::kSet:
      return decode_set(fields);
    case tags::kRenew: {
      ASSIGN_OR_RETURN(const LeaseId lease, fields.number(tags::kLease));
      return Request(RenewRequest{lease});
    }
    case tags::kRelease: {
      ASSIGN_OR_RETURN(const LeaseId lease, fields.number(tags::kLease));
      return Request(ReleaseRequest{lease});
    }
    case tags::kList:
      return Request(ListRequest{});
    case tags::kStatus:
      return Request(StatusRequest{});
    case tags::kReset:
      return decode_reset(fields);
    default:
      return malformed(fmt::format("the request type {} is unknown", type));
  }
}

}  // namespace

Result<std::string> encode_request(const Numbered<Request>& request) {
  return std::visit(RequestEncoder(request.sequence), request.message).finish();
}

Result<Numbered<Request>> decode_request(std::string_view body) {
  ASSIGN_OR_RETURN(const Fields fields, Fields::parse(body));
  ASSIGN_OR_RETURN(const Opening opening, read_opening(fields));
  ASSIGN_OR_RETURN(Request request, decode_request_of_type(opening.type, fields));
  return Numbered<Request>{opening.sequence, std::move(request)};
}

}  // namespace hypermile::wire
