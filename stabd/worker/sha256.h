// SHA-256 of texts and files, as 64 lower-case hex digits.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stab::worker {

std::string sha256(std::string_view text);
// From the start of the file, or from `begin`, to its end, or this many bytes, wherever fd's offset is.
Result<std::string> sha256_of_fd(int fd, uint64_t bytes = std::numeric_limits<uint64_t>::max(), uint64_t begin = 0);
Result<std::string> sha256_of_file(const std::string& path);

// 64 lower-case hex digits.
bool is_sha256(std::string_view text);

}  // namespace stab::worker
