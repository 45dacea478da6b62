// SHA-256 of texts and files, as 64 lower-case hex digits.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stab::engine {

std::string sha256(std::string_view text);
// From the start of the file to its end, wherever fd's offset is.
Result<std::string> sha256_of_fd(int fd);
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace stab::engine
