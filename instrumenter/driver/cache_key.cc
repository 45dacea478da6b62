// Of the options of LLVM that take any text, this one names the function whose graph another option, which nobody gives, would
// display.
#include "instrumenter/driver/cache_key.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include "runtime/code_abi.h"

namespace stab::driver {

std::string cache_key_option(const std::string& pass_plugin, const std::string& places) {
  std::ifstream file(pass_plugin, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  char key[40];
  snprintf(key, sizeof key, "stab-%016llx-%016llx", static_cast<unsigned long long>(abi::hash64(bytes.data(), bytes.size())),
           static_cast<unsigned long long>(abi::hash64(places.data(), places.size())));
  return std::string("-view-bfi-func-name=") + key;
}

}  // namespace stab::driver
