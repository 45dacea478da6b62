// OpenSSL's EVP interface, which picks the processor's own instructions. Binaries, inputs and outputs are known
// by this hash in the store.
#include "stabd/worker/sha256.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "stabd/worker/named_file.h"

namespace stab::worker {
namespace {

// Looked up once: EVP_sha256() is looked up by name in all providers at each use, which takes longer than to hash what
// most programs print.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched != nullptr ? fetched : EVP_sha256();
}

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), algorithm(), nullptr);
  }
  void add(const void* data, size_t bytes) { EVP_DigestUpdate(context_.get(), data, bytes); }
  std::string hex() {
    std::array<unsigned char, 32> bytes;
    EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr);
    std::string text;
    for (const unsigned char byte : bytes) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view text) {
  Digest digest;
  digest.add(text.data(), text.size());
  return digest.hex();
}

Result<std::string> sha256_of_fd(int fd, uint64_t bytes, uint64_t begin) {
  Digest digest;
  std::array<char, 65536> buffer;
  uint64_t at = 0;
  for (;;) {
    const size_t most = static_cast<size_t>(std::min<uint64_t>(buffer.size(), bytes - at));
    const ssize_t got = ::pread(fd, buffer.data(), most, static_cast<off_t>(begin + at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", errno);
    if (got == 0) return digest.hex();
    digest.add(buffer.data(), static_cast<size_t>(got));
    at += static_cast<uint64_t>(got);
  }
}

Result<std::string> sha256_of_file(const std::string& path) {
  STAB_TRY(const UniqueFd fd, open_regular_file(path));
  return sha256_of_fd(fd.get());
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace stab::worker
