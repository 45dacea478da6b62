// OpenSSL's block functions: they neither break lines nor keep a state, but count the padding as bytes.
#include "stabd/daemon/protocol/base64.h"

#include <openssl/evp.h>

namespace stab::daemon {
namespace {

const unsigned char* octets(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and the zero that is written behind
  const int length =
      ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), octets(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length =
      ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), octets(text), static_cast<int>(text.size()));
  if (length < 0) return {};
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<size_t>(length) - padding);
  return bytes;
}

}  // namespace stab::daemon
