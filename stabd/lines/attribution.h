// To which lines an instruction belongs, given the calls that were inlined around it. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stabd/lines/line_table.h"
#include "stabd/lines/wire/lines_wire.h"

namespace stab::lines {

// Which sources count, asked once a file.
class Scope {
 public:
  Scope(std::vector<std::string> patterns, const Names& names) : patterns_(std::move(patterns)), names_(&names) {}
  bool has(uint32_t file);

 private:
  std::vector<std::string> patterns_;
  const Names* names_;
  std::vector<int8_t> known_;  // by file: -1 not asked yet
};

// A line of a file, or with line 0 a function of one.
struct RegionKey {
  uint32_t file = 0, line = 0, function = 0;  // of a line the function is 0: several may be made of it
  auto operator<=>(const RegionKey&) const = default;
};

struct Attributed {
  RegionKey key;
  uint32_t function = 0;  // that it was seen in
};
// None where nothing is in scope. `frames`: innermost first.
std::optional<Attributed> region_of(const std::vector<Frame>& frames, Unit unit, Attribution attribution, Scope& scope);

}  // namespace stab::lines
