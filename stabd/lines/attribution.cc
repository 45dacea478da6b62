#include "stabd/lines/attribution.h"

#include "stabd/lines/wire/source_pattern.h"

namespace stab::lines {

bool Scope::has(uint32_t file) {
  if (file == 0) return false;
  if (known_.size() <= file) known_.resize(file + 1, -1);
  if (known_[file] < 0) known_[file] = in_scope(patterns_, (*names_)[file]) ? 1 : 0;
  return known_[file] == 1;
}

std::optional<Attributed> region_of(const std::vector<Frame>& frames, Unit unit, Attribution attribution, Scope& scope) {
  for (const Frame& frame : frames) {
    const bool counts = scope.has(frame.file) && (unit == Unit::kFunction ? frame.function != 0 : frame.line != 0);
    if (counts && unit == Unit::kFunction) return Attributed{{frame.file, 0, frame.function}, frame.function};
    if (counts) return Attributed{{frame.file, frame.line, 0}, frame.function};
    if (attribution == Attribution::kLeaf) break;
  }
  return {};
}

}  // namespace stab::lines
