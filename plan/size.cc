// Every number here is a product or a sum of what the plan lists; none of them needs what it counts.
#include "plan/size.h"

#include <algorithm>

#include "plan/limits.h"
#include "plan/placeholder.h"
#include "plan/schedule.h"

namespace stab::plan {
namespace {

Error too_many(const std::string& what, uint64_t count, uint64_t limit, const std::string& cure, SourceSpot spot = {}) {
  return bad_input(what + " " + count_text(count) + ", at most " + std::to_string(limit) + "; " + cure, std::move(spot));
}

size_t workloads_of(const Plan& plan) {
  size_t count = 0;
  for (const Program& program : plan.programs) count += program.workloads.size();
  return count;
}

size_t longest_value(const Plan& plan, std::string_view factor) {
  const int index = plan.factor_index(factor);
  if (index < 0) return 10;  // {link}: a number of 31 bits
  size_t longest = 0;
  for (const Level& level : plan.factors[static_cast<size_t>(index)].levels) longest = std::max(longest, level.value.size());
  return longest;
}

// The longest that substitution can make of a text.
uint64_t substituted_bytes(const Plan& plan, const std::string& text) {
  if (text.find('{') == std::string::npos) return text.size();
  const Result<std::vector<Piece>> pieces = split_placeholders(text);
  if (!pieces) return text.size();
  uint64_t bytes = 0;
  for (const Piece& piece : *pieces) bytes += piece.is_placeholder ? longest_value(plan, piece.text) : piece.text.size();
  return bytes;
}

Status check_argument(const Plan& plan, const std::string& text, const SourceSpot& spot) {
  const uint64_t bytes = substituted_bytes(plan, text);
  if (bytes <= kMaxArgumentBytes) return {};
  return too_many("an argument or variable can get as long as", bytes, kMaxArgumentBytes,
                  "Linux takes no longer one; put it into a file", spot);
}

Status check_command(const Plan& plan, const Command& command, const SourceSpot& spot) {
  for (const std::string& word : command.argv) STAB_CHECK_OK(check_argument(plan, word, spot));
  return {};
}

// Bytes of the commands of a program's builds, of which there is at most one for each combination of the levels that
// they name, and for each link.
uint64_t bytes_of_builds(const Plan& plan, const Program& program, uint64_t cells) {
  std::vector<const std::string*> texts = {&program.source.dir, &program.source.git, &program.source.revision};
  for (const std::string& word : program.build.argv) texts.push_back(&word);
  for (const std::string& patch : program.source.patches) texts.push_back(&patch);
  uint64_t bytes = sizeof(Build) + program.name.size(), combinations = 1;
  for (const std::string* text : texts) bytes += sizeof(std::string) + substituted_bytes(plan, *text);
  for (const Factor& factor : plan.factors) {
    const std::string placeholder = "{" + factor.name + "}";
    const auto names_it = [&](const std::string* text) { return text->find(placeholder) != std::string::npos; };
    if (!std::any_of(texts.begin(), texts.end(), names_it)) continue;
    combinations = times(combinations, factor.levels.size());
    bytes += factor.name.size() + kMaxLevelNameBytes;
  }
  return times(times(bytes, std::min(combinations, cells)), static_cast<uint64_t>(plan.link.seeds) + 1);
}

Status check_commands(const Plan& plan) {
  for (const Program& program : plan.programs) {
    for (const Command* command : {&program.build, &program.prepare, &program.cleanup})
      STAB_CHECK_OK(check_command(plan, *command, program.spot));
    for (const std::string* text : {&program.source.dir, &program.source.git, &program.source.revision})
      STAB_CHECK_OK(check_argument(plan, *text, program.spot));
    for (const std::string& patch : program.source.patches) STAB_CHECK_OK(check_argument(plan, patch, program.spot));
    for (const std::string& input : program.inputs) STAB_CHECK_OK(check_argument(plan, input, program.spot));
    for (const Workload& workload : program.workloads) {
      STAB_CHECK_OK(check_command(plan, workload.run, workload.spot));
      for (const auto& [name, value] : workload.env) STAB_CHECK_OK(check_argument(plan, name + "=" + value, workload.spot));
      for (const std::string& input : workload.inputs) STAB_CHECK_OK(check_argument(plan, input, workload.spot));
      for (const std::string* text : {&workload.stdin_path, &workload.cwd})
        STAB_CHECK_OK(check_argument(plan, *text, workload.spot));
    }
  }
  return {};
}

}  // namespace

std::string count_text(uint64_t count) { return count == UINT64_MAX ? "more than 1.8e19" : std::to_string(count); }

uint64_t crossing_of(const Plan& plan) {
  uint64_t crossing = 1;
  for (const Factor& factor : plan.factors) crossing = times(crossing, factor.levels.size());
  return crossing;
}

uint64_t block_trials(const Plan& plan, const Design& design) {
  const uint64_t passes = counter_passes(plan.counters).size();
  return times(times(times(design.cells.size(), workloads_of(plan)), passes),
               static_cast<uint64_t>(plan.experiment.runs_per_seed));
}

uint64_t trials_of(const Plan& plan, const Design& design) {
  return times(block_trials(plan, design), static_cast<uint64_t>(plan.experiment.replicates));
}

Status check_crossing(const Plan& plan) {
  const SourceSpot spot = plan.factors.empty() ? SourceSpot() : plan.factors.back().spot;
  const uint64_t crossing = crossing_of(plan);
  if (crossing > kMaxCrossing)
    return too_many("combinations of all levels:", crossing, kMaxCrossing, "take out factors or levels", spot);
  uint64_t conditions = 0;
  for (const Exclude& exclude : plan.exclude) conditions += exclude.when.size();
  conditions += plan.nested.size();
  if (const uint64_t comparisons = times(crossing, conditions); comparisons > kMaxComparisons)
    return too_many("combinations of levels times conditions of exclude and nested:", comparisons, kMaxComparisons,
                    "write fewer excludes, each with lists of levels", spot);
  return {};
}

Status check_trials(const Plan& plan, const Design& design) {
  const SourceSpot spot = plan.factors.empty() ? SourceSpot() : plan.factors.back().spot;
  const uint64_t cells = design.cells.size(), workloads = workloads_of(plan);
  if (const uint64_t rows = times(cells, plan.factors.size()); rows > kMaxCellLevels)
    return too_many("cells times factors:", rows, kMaxCellLevels, "take out factors or levels", spot);
  uint64_t longest_name = 0;
  for (const Cell& cell : design.cells) longest_name = std::max<uint64_t>(longest_name, cell.name.size());
  if (const uint64_t bytes = times(times(cells, workloads), longest_name + 256); bytes > kMaxSeedNameBytes)
    return too_many("cells times workloads times the bytes of their names:", bytes, kMaxSeedNameBytes,
                    "split the plan, or shorten its names", spot);
  const uint64_t links = static_cast<uint64_t>(plan.link.seeds) + 1;
  if (const uint64_t keys = times(times(plan.programs.size(), cells), links); keys > kMaxBuildKeys)
    return too_many("programs times cells times links:", keys, kMaxBuildKeys, "split the plan", spot);
  STAB_CHECK_OK(check_commands(plan));
  uint64_t bytes = 0;  // at most kMaxPrograms times the limit, so it can't wrap around
  for (const Program& program : plan.programs) {
    const uint64_t more = bytes_of_builds(plan, program, cells);
    bytes += std::min(more, 2 * kMaxBuildBytes);
  }
  if (bytes > kMaxBuildBytes)
    return too_many("bytes of all builds' commands:", bytes, kMaxBuildBytes, "split the plan, or shorten its commands", spot);
  if (const uint64_t block = block_trials(plan, design); block > kMaxBlockTrials)
    return too_many("trials of one block, which are cells times workloads times passes times runs:", block, kMaxBlockTrials,
                    "split the plan", spot);
  if (const uint64_t trials = trials_of(plan, design); trials > kMaxTrials)
    return too_many("trials of the whole plan:", trials, kMaxTrials, "take fewer replicates, or split the plan", spot);
  return {};
}

}  // namespace stab::plan
