// SPDX-License-Identifier: Apache-2.0
#include "agent/credentials.h"

#include <fmt/format.h>
#include <munge.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>

namespace hypermile {
namespace {

constexpr std::size_t kNonceBytes = 16;
constexpr int kTtlSeconds = 60;  // hosts' clocks differ by less, or Slurm itself would not work

struct ContextDeleter {
  void operator()(munge_ctx* context) const { munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<munge_ctx, ContextDeleter>;

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

Error failed(const char* what, munge_err_t error, const munge_ctx_t context) {
  const char* detail = munge_ctx_strerror(context);
  const bool nobody = error == EMUNGE_SOCKET;
  return Error{nobody ? ErrorCode::kIo : ErrorCode::kPermission,
               fmt::format("{}: {}", what, detail != nullptr ? detail : munge_strerror(error)),
               nobody ? "start munged" : ""};
}

class MungeCredentials final : public Credentials {
 public:
  explicit MungeCredentials(std::string socket) : socket_(std::move(socket)) {}

  Result<std::string> make(const std::string& statement) override {
    const Context context = open();
    munge_ctx_set(context.get(), MUNGE_OPT_UID_RESTRICTION, ::geteuid());
    munge_ctx_set(context.get(), MUNGE_OPT_TTL, kTtlSeconds);
    char* credential = nullptr;
    const munge_err_t error = munge_encode(&credential, context.get(), statement.data(),
                                           static_cast<int>(statement.size()));
    const std::unique_ptr<char, FreeDeleter> owner(credential);
    if (error != EMUNGE_SUCCESS) return failed("MUNGE makes no credential", error, context.get());
    return std::string(credential);
  }

  Result<void> check(const std::string& credential, const std::string& statement) override {
    const Context context = open();
    void* payload = nullptr;
    int length = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    const munge_err_t error =
        munge_decode(credential.c_str(), context.get(), &payload, &length, &uid, &gid);
    const std::unique_ptr<void, FreeDeleter> owner(payload);
    if (error != EMUNGE_SUCCESS)
      return failed("MUNGE refuses the credential", error, context.get());
    if (uid != ::geteuid()) {
      return Error{ErrorCode::kPermission,
                   fmt::format("the credential is of user {}, not of ours", uid)};
    }
    const std::string_view said(static_cast<const char*>(payload),
                                payload != nullptr ? static_cast<std::size_t>(length) : 0);
    if (said != statement) {
      return Error{ErrorCode::kPermission,
                   "the credential was made for another job or another connection"};
    }
    return {};
  }

 private:
  Context open() const {
    Context context(munge_ctx_create());
    if (!socket_.empty()) munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket_.c_str());
    return context;
  }

  std::string socket_;
};

}  // namespace

std::unique_ptr<Credentials> make_munge_credentials(const std::string& socket) {
  return std::make_unique<MungeCredentials>(socket);
}

Result<std::string> make_nonce() {
  std::array<char, kNonceBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error{ErrorCode::kIo, "no random bytes can be had"};
  }
  return std::string(bytes.data(), bytes.size());
}

std::string statement_of(std::string_view job, std::string_view speaker, std::string_view nonce) {
  std::string text = fmt::format("hypermile-agents {} {} ", job, speaker);
  for (const char byte : nonce) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace hypermile
