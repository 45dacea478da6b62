// What running in copies has more to do in one program than in another, as trials have counted it.
#pragma once

#include <algorithm>
#include <cmath>

#include "analysis/commands/explain.h"
#include "stabd/engine/results/function_places.h"

namespace stab::ctl {

// `margin`: a tenth of it is the least that is allowed for.
inline commands::CopyFacts copy_facts(const engine::CopiedRun& older, const engine::CopiedRun& newer, double margin) {
  constexpr double kMatters = 0.1;
  commands::CopyFacts out{older.pointer_entries, newer.pointer_entries, older.libraries, newer.libraries,
                          older.functions, newer.functions, (older.cpu_seconds + newer.cpu_seconds) / 2};
  const statistics::CopyPrice price = commands::price_of(out);
  out.counts = std::max(price.high, -price.low) > kMatters * std::log1p(margin);
  return out;
}

}  // namespace stab::ctl
