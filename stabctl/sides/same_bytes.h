// Whether two files are one, whatever they are called.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace stab::ctl {

// No: one of them can't be read, too.
inline bool have_same_bytes(const std::string& a, const std::string& b) {
  std::error_code failed;
  if (std::filesystem::file_size(a, failed) != std::filesystem::file_size(b, failed) || failed) return false;
  std::ifstream one(a, std::ios::binary), other(b, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return one && other && std::equal(Bytes(one), Bytes(), Bytes(other), Bytes());
}

}  // namespace stab::ctl
