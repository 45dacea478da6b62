// stab-layout says what each build needs, in the form of a table of one build; here these are put together. The rows are a
// stranger's as the binaries are, so the helper looks at each of them again.
#include "stabd/engine/results/match_tables.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

namespace stab::engine {
namespace {

// What stab-layout --match has printed for one binary.
Result<Needs> read_needs(std::string_view text) {
  constexpr size_t kEach = sizeof(code::MatchRow) + sizeof(uint32_t);
  const Error strange{ErrorCode::kCorrupt, "stab-layout is of another version: it prints no match table", {}};
  const size_t end = text.find('\0');
  if (end == std::string_view::npos) return strange;
  text.remove_prefix(end + 1);
  const size_t count = text.size() / kEach;
  if (text.size() % kEach != 0 || count > code::kMostMatchRows) return strange;
  Needs needs{Rows(count), std::vector<uint32_t>(count)};
  if (count == 0) return needs;
  std::memcpy(needs.rows.data(), text.data(), count * sizeof(code::MatchRow));
  std::memcpy(needs.contents.data(), text.data() + count * sizeof(code::MatchRow), count * sizeof(uint32_t));
  for (size_t i = 1; i < count; ++i)
    if (needs.rows[i].identity <= needs.rows[i - 1].identity) return strange;
  return needs;
}

// Of all rows in an image, between the gaps that are drawn.
double bytes_of(const Rows& rows) {
  double bytes = 0;
  for (const code::MatchRow& row : rows) bytes += double(row.lead) + double(row.bytes) + double(row.table_bytes);
  return bytes;
}

std::string percent_wider(double times) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", (times - 1) * 100);
  return text.data();
}

// Ascending. A renamed function has a row that takes no room and names its function's.
Rows rows_of_all(const std::vector<Needs>& builds, const FirstNames& first_name) {
  std::map<uint64_t, code::MatchRow> all;
  for (const Needs& build : builds)
    for (code::MatchRow row : build.rows) {
      const auto other = first_name.find(row.identity);
      if (other != first_name.end()) row.identity = other->second;
      const auto [at, is_first] = all.try_emplace(row.identity, row);
      if (!is_first) at->second = code::both(at->second, row);
    }
  for (const auto& [name, first] : first_name) all[name] = {name, 0, 0, 0, 0};
  Rows rows;
  rows.reserve(all.size());
  for (const auto& [identity, row] : all) rows.push_back(row);
  const auto is_before = [](const code::MatchRow& row, uint64_t identity) { return row.identity < identity; };
  const auto at = [&](uint64_t identity) { return std::lower_bound(rows.begin(), rows.end(), identity, is_before); };
  for (const auto& [name, first] : first_name) at(name)->renamed = 1 + static_cast<uint32_t>(at(first) - rows.begin());
  return rows;
}

void put_together(const std::vector<Needs>& builds, ProgramMatch& out) {
  const Rows rows = rows_of_all(builds, out.renamed);
  if (rows.size() > code::kMostMatchRows)
    return void(out.why_not = "its builds have more than " + std::to_string(code::kMostMatchRows) + " functions together");
  for (const Needs& build : builds) out.widest = std::max(out.widest, bytes_of(rows) / std::max(1.0, bytes_of(build.rows)));
  if (out.widest > kWidestMatch)
    return void(out.why_not = "its builds have so little in common that images with room for all of them would be " +
                              percent_wider(out.widest) + " longer than one build's own");
  out.rows.assign(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(code::MatchRow));
  std::array<char, 64> line{};
  std::snprintf(line.data(), line.size(), "match %zu 0x%llx", rows.size(),
                static_cast<unsigned long long>(abi::hash64(out.rows.data(), out.rows.size())));
  out.line = line.data();
}

}  // namespace

Result<ProgramMatch> match_program(store::Store& store, store::Id experiment, std::string_view program, const Archive& archive,
                                   const LayoutTool& tool, bool by_contents) {
  ProgramMatch out;
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  std::vector<Needs> all;
  std::map<std::string, bool> seen;  // binaries; builds may have one
  for (const store::BuildRow& build : builds) {
    if (build.program != program || build.link != 0 || build.binary_sha256.empty()) continue;
    if (!seen.try_emplace(build.binary_sha256, true).second) continue;
    store::TrialRow of_build;
    of_build.experiment = experiment;
    of_build.build = build.index;
    const Result<BinaryFile> binary = find_binary(store, of_build, archive, true);
    if (!binary) return void(out.why_not = binary.error().message), out;
    const Result<std::string> text = tool.match(*binary);
    if (!text && text.error().code == ErrorCode::kUnavailable) return void(out.why_not = text.error().message), out;
    // szc didn't build it, so nothing of it moves, and the others are matched without it.
    if (!text && text.error().code == ErrorCode::kCorrupt) {
      out.why_not = text.error().message;
      continue;
    }
    if (!text) return text.error();
    STAB_TRY(Needs needs, read_needs(*text));
    all.push_back(std::move(needs));
  }
  out.builds = all.size();
  if (all.empty()) return out;
  out.why_not.clear();
  if (by_contents) out.renamed = find_renamed(all);
  put_together(all, out);
  return out;
}

std::string script_of(const ProgramMatch& match) { return "stab-script 1 any\n" + match.line + "\n" + '\0' + match.rows; }

Result<std::string> script_with_table(store::Store& store, const store::TrialRow& trial, const std::string& script,
                                      const Archive& archive, const LayoutTool& tool) {
  size_t at = script.find("\nmatch ");
  if (at == std::string::npos) return script;
  const std::string line = script.substr(at + 1, script.find('\n', at + 1) - at - 1);
  if (line == "match pads") return script;
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(trial.experiment));
  for (const store::BuildRow& build : builds) {
    if (build.index != trial.build) continue;
    // Trials of earlier versions followed tables of functions' names alone.
    STAB_TRY(ProgramMatch match, match_program(store, trial.experiment, build.program, archive, tool));
    if (match.line != line && !match.renamed.empty()) {
      STAB_TRY(ProgramMatch by_name, match_program(store, trial.experiment, build.program, archive, tool, false));
      if (by_name.line == line) match = std::move(by_name);
    }
    if (match.line == line) return script + '\0' + match.rows;
    return Error{ErrorCode::kNotFound,
                 "the layouts of trial " + std::to_string(trial.id) +
                     " were matched with those of the other builds, and these are not " + "there any more as they were" +
                     (match.why_not.empty() ? "" : ": " + match.why_not),
                 {}};
  }
  return Error{ErrorCode::kNotFound, "trial " + std::to_string(trial.id) + " has no build", {}};
}

}  // namespace stab::engine
