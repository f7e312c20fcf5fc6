// SPDX-License-Identifier: Apache-2.0
//
// Credentials from a secret that the job's hosts share: the HMAC-SHA256 of the statement. Every
// statement holds a nonce that the side which checks it has just made, so none is good twice.
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "agent/credentials.h"
#include "base/descriptor.h"

namespace hypermile {
namespace {

constexpr std::size_t kLeastBytes = 16;
constexpr std::size_t kMostBytes = 4096;

Error unusable(const std::string& path, const std::string& why) {
  return Error{ErrorCode::kPermission, fmt::format("{}: {}", path, why),
               "make one with: (umask 077; head -c 32 /dev/urandom > FILE), and copy it to every "
               "host"};
}

class SecretCredentials final : public Credentials {
 public:
  explicit SecretCredentials(std::string secret) : secret_(std::move(secret)) {}

  Result<std::string> make(const std::string& statement) override {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    const auto* text = reinterpret_cast<const unsigned char*>(statement.data());
    if (::HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), text,
               statement.size(), digest.data(), &length) == nullptr) {
      return Error{ErrorCode::kIo, "no HMAC can be made"};
    }
    // Text, because a message's field is.
    return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + length, ""));
  }

  Result<void> check(const std::string& credential, const std::string& statement) override {
    ASSIGN_OR_RETURN(const std::string right, make(statement));
    if (credential.size() == right.size() &&
        CRYPTO_memcmp(credential.data(), right.data(), right.size()) == 0) {
      return {};
    }
    return Error{ErrorCode::kPermission, "it does not know the job's secret"};
  }

 private:
  std::string secret_;
};

// `file` is open. Nobody but this user may have read or written it.
Result<std::string> read_secret(const Descriptor& file, const std::string& path) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return unusable(path, "is no file");
  }
  if (facts.st_uid != ::geteuid()) return unusable(path, "belongs to somebody else");
  if ((facts.st_mode & 0077) != 0)
    return unusable(path, "others may read it: its mode is not 0600");
  std::string secret(kMostBytes + 1, '\0');
  const ssize_t length = ::pread(file.get(), secret.data(), secret.size(), 0);
  if (length < static_cast<ssize_t>(kLeastBytes) || length > static_cast<ssize_t>(kMostBytes)) {
    return unusable(path, fmt::format("must have {} to {} bytes", kLeastBytes, kMostBytes));
  }
  secret.resize(static_cast<std::size_t>(length));
  return secret;
}

}  // namespace

Result<std::unique_ptr<Credentials>> make_secret_credentials(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return unusable(path, std::strerror(errno));
  ASSIGN_OR_RETURN(std::string secret, read_secret(file, path));
  return std::unique_ptr<Credentials>(std::make_unique<SecretCredentials>(std::move(secret)));
}

Result<std::unique_ptr<Credentials>> make_loopback_credentials(const std::string& folder) {
  const std::string path = fmt::format("{}/hypermile-secret-{}", folder, ::geteuid());
  const Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  // The agents of one machine start together, and one of them writes.
  if (!file || ::flock(file.get(), LOCK_EX) != 0) return unusable(path, std::strerror(errno));
  struct stat facts {};
  if (::fstat(file.get(), &facts) == 0 && facts.st_uid == ::geteuid() && facts.st_size == 0) {
    ASSIGN_OR_RETURN(const std::string first, make_nonce());
    ASSIGN_OR_RETURN(const std::string second, make_nonce());
    const std::string secret = first + second;
    if (::write(file.get(), secret.data(), secret.size()) != static_cast<ssize_t>(secret.size())) {
      return unusable(path, std::strerror(errno));
    }
  }
  ASSIGN_OR_RETURN(std::string secret, read_secret(file, path));
  return std::unique_ptr<Credentials>(std::make_unique<SecretCredentials>(std::move(secret)));
}

}  // namespace hypermile
