// What two builds of a program are told apart by: which functions' instructions or constants differ, and which data objects lie
// elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stab::engine {

// Of a program or a shared library, as stab-layout --bodies prints it.
struct BuildBodies {
  struct Function {
    uint64_t identity = 0;      // the same in another build that has it
    uint64_t instructions = 0;  // a hash of them, whatever addresses they use
    std::string name;
    std::vector<uint32_t> tables = {};     // hashes of its jump tables, so far as they are known for such
    std::vector<uint32_t> constants = {};  // hashes of what is at the addresses of data that it uses, in its order; 0: not known

    // Its instructions are others, or lead elsewhere by jump tables that are known of both.
    bool differs_from(const Function& other) const;
    // The same instructions use a string or another constant that is known in both, and differs.
    bool uses_other_constants(const Function& other) const;
  };
  struct Object {
    uint64_t linked = 0, bytes = 0;
    uint64_t contents = 0;  // a hash, whatever addresses they have; 0: not known
  };
  uint64_t text_hash = 0;                      // of its code
  bool knows_constants = false;                // what is in those whose address is used
  std::map<uint64_t, Function> functions;      // those that move, by their link-time address
  std::map<std::string, std::vector<Object>> objects;  // data, by name
};
// kCorrupt: it is nothing of this version's stab-layout.
Result<BuildBodies> read_bodies(std::string_view text);

// A data object that both builds have, and that is longer in one, has other contents, or begins elsewhere in its page.
struct ChangedObject {
  std::string name;
  uint64_t old_linked = 0, new_linked = 0;
  uint64_t old_bytes = 0, new_bytes = 0;
  bool is_other = false;  // as long, and its contents differ
};

struct BodiesOfBoth {
  size_t functions = 0;              // that either build has
  std::vector<std::string> changed;  // whose instructions differ
  std::vector<std::string> constants;  // with the same instructions, that use other strings or other constants
  bool knows_constants = true;         // of both it is known what is in them, and so of the libraries of both
  std::vector<std::string> old_alone, new_alone;
  std::vector<std::pair<std::string, std::string>> renamed;  // the old name and the new one of what is in it alike
  std::vector<ChangedObject> data;   // other contents first, then those that are longer in one, then by size
};
// `renamed`: the identity that functions have in both which are called otherwise in each.
BodiesOfBoth bodies_of_both(const BuildBodies& older, const BuildBodies& newer, const std::set<uint64_t>& renamed = {});
// Of a shared library that comes with both: names begin with its file's, "libfoo.so!inflate".
void add_library(const std::string& file, const BodiesOfBoth& library, BodiesOfBoth& out);

}  // namespace stab::engine
