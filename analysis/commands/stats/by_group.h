// A method of one sample, for the whole response or for each group of it.
#pragma once

#include <utility>
#include <vector>

#include "analysis/commands/stats/stats_data.h"
#include "analysis/commands/table/method_flags.h"
#include "analysis/text/finding.h"
#include "base/wording.h"

namespace stab::commands {

// One finding for the whole response, or one a group under "groups".
template <typename Describe>
Result<text::Finding> by_group(const Arguments& args, const StatsData& data, const Describe& describe) {
  if (!data.grouped()) return describe(args, data.response());
  STAB_TRY(const auto samples, data.samples(1, SIZE_MAX));
  std::vector<text::Finding> rows;
  for (const NamedSample& sample : samples) {
    const Result<text::Finding> part = describe(args, sample.values);
    if (!part) return Error{part.error().code, "group " + in_quotes(sample.name) + ": " + part.error().message, {}};
    text::Finding row;
    row.add("group", sample.name).append(*part);
    rows.push_back(std::move(row));
  }
  text::Finding finding;
  finding.add("groups", std::move(rows));
  return finding;
}

}  // namespace stab::commands
