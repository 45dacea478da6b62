// Functions: the function symbols of the text, one entry for each range of code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "runtime/code_abi.h"

namespace stab::postlink {

struct Function {
  uint64_t start;
  uint64_t bytes;         // 0 when its symbol has no size
  std::string_view name;  // one of its names; global ones are preferred. Empty: our pass alone tells of it (ld -x, objcopy)
  abi::Immovable immovable = abi::Immovable::kNo;
  bool overlaps = false;  // another function symbol starts inside it
  bool foreign = false;   // our pass has not compiled it
  bool runtime = false;   // part of our own runtime
  bool leaves = false;    // foreign, and it moves, but a copy may jump into the original: its labels are values, or in arrays
                          // that aren't known to be its jump tables

  // "f" for "f.cold" and "f.cold.3", parts of f that were split off; empty for others.
  std::string_view parent_of_cold_part() const;

  uint64_t end() const { return start + bytes; }
  bool contains(uint64_t address) const { return address >= start && address < end(); }
};

// What stab_funcs lists: a function that our pass has compiled.
struct Listed {
  uint64_t start;
  uint32_t bytes;
};

// Invariant: ascending by start, ranges disjoint, all inside the image's text.
class FunctionTable {
 public:
  // Where the binary has no list of what our pass compiled, `only_listed` makes all of it foreign; otherwise
  // `runtime_names`, ascending, tell which functions are our own runtime's.
  static FunctionTable read(const ElfImage& image, bool only_listed, const std::vector<std::string>& runtime_names);

  const std::vector<Function>& all() const { return functions_; }
  std::vector<Function>& all() { return functions_; }
  const Function& operator[](uint32_t index) const { return functions_[index]; }
  uint32_t size() const { return static_cast<uint32_t>(functions_.size()); }
  // The function whose bytes hold address.
  std::optional<uint32_t> holding(uint64_t address) const;
  // The function that starts at address.
  std::optional<uint32_t> starting_at(uint64_t address) const;
  // The start of the first function behind address whose size is known; the largest address if there is none.
  uint64_t next_sized_after(uint64_t address) const;
  // Whether the binary says which functions our pass compiled (section stab_funcs).
  bool has_compiled_list() const { return has_compiled_list_; }
  // Functions that no symbol names: others, that aren't ours, may lie anywhere between these.
  bool has_nameless() const { return has_nameless_; }

 private:
  void add_nameless(const ElfImage& image, const std::vector<Listed>& listed);
  void mark_foreign(const ElfImage& image, bool only_listed, const std::vector<Listed>& listed);
  void mark_runtime(const std::vector<std::string>& names);

  std::vector<Function> functions_;
  bool has_compiled_list_ = false;
  bool has_nameless_ = false;
};

// The addresses listed in a section whose entries start with an i32 distance from the entry itself, ascending.
std::vector<uint64_t> self_relative_list(const ElfImage& image, std::string_view section_name,
                                         size_t entry_bytes);

}  // namespace stab::postlink
