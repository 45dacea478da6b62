// OpenSSL's EVP interface, which picks the processor's own instructions. Binaries, inputs and outputs are known
// by this hash in the store.
#include "stabd/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/unique_fd.h"

namespace stab::engine {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
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

Result<std::string> sha256_of_fd(int fd) {
  Digest digest;
  std::array<char, 65536> buffer;
  off_t at = 0;
  for (;;) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", errno);
    if (got == 0) return digest.hex();
    digest.add(buffer.data(), static_cast<size_t>(got));
    at += got;
  }
}

Result<std::string> sha256_of_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error("open '" + path + "'", errno);
  return sha256_of_fd(fd.get());
}

}  // namespace stab::engine
