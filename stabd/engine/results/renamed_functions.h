// Functions that have another name in another build of the program, found by what is in them.
//
// One that a build lacks may be there under another name, as its signature, namespace or class has changed. If one function that
// the first build alone has, and one that another build alone has, are the same but for addresses, they are one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/code/match_table.h"

namespace stab::engine {

using Rows = std::vector<code::MatchRow>;

// What one build's functions that move need. invariant: identities ascend
struct Needs {
  Rows rows;
  std::vector<uint32_t> contents;  // by row: a hash of what is in the function, wherever it lies and whatever it is called

  bool has(uint64_t identity) const;
};

// The identity of each renamed function, and that of what it is called in the first build.
using FirstNames = std::map<uint64_t, uint64_t>;

// No build has two functions of one first name, nor is a first name another's other name.
FirstNames find_renamed(const std::vector<Needs>& builds);

}  // namespace stab::engine
