// ModuleFile: a program or library as a file, and the file that has its debug information.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::lines {

// Where debug files of a distribution's packages lie.
inline constexpr char kDebugFolder[] = "/usr/lib/debug";

// A regular file's bytes, mapped for as long as it lives.
class FileBytes {
 public:
  // kBadInput: no regular file, or longer than 8 GiB.
  static Result<FileBytes> open(const std::string& path);
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&&) = delete;
  ~FileBytes();
  std::string_view bytes() const { return {static_cast<const char*>(at_), size_}; }

 private:
  FileBytes(void* at, size_t size) : at_(at), size_(size) {}
  void* at_;
  size_t size_;
};

struct Segment {
  uint64_t begin = 0, end = 0;  // addresses
};

// What is known of a module without its debug information.
struct ModuleFacts {
  std::string build_id;               // hex; empty: none
  std::vector<Segment> executable;    // sorted
  bool has_line_table = false;
  std::string debug_link;             // name in .gnu_debuglink; empty: none
  uint32_t debug_link_crc = 0;
};
// kBadInput: no 64-bit x86 program or library.
Result<ModuleFacts> facts_of(std::string_view bytes);

// Paths where the debug file of a module may be, the likeliest first. pre: `path` is absolute
std::vector<std::string> debug_paths(const std::string& path, const ModuleFacts& facts, const std::string& debug_folder);

// The debug file of a module: of the same build id, or where there is none of the checksum that .gnu_debuglink wants. kNotFound.
Result<std::string> find_debug_file(const std::string& path, const ModuleFacts& facts, const std::string& debug_folder);

}  // namespace stab::lines
