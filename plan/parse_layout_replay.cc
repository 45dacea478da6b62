// [layout.replay] is written by the engine behind the plan of a recorded trial, and makes of it a comparison of two cells in
// blocks: all factors keep the trial's level, and a factor `layout` says whose layout a trial runs in, the recorded one's or one
// of its own. The plan's seed stays, as the links of its builds are drawn from it; the draws of fresh layouts are others.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/wording.h"
#include "plan/design.h"
#include "plan/layout_replay.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"
#include "plan/toml/toml_text.h"
#include "plan/verification_plan.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

constexpr const char* kHint = "'stabctl replay TRIAL --times N' writes [layout.replay]";
constexpr int kMostLinks = 65535;

// A whole text as a number: TOML's integers end at 2^63, and a double is not read back exactly everywhere.
template <typename Number, typename... Base>
std::optional<Number> number_of(std::string_view text, Base... base) {
  Number out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base...);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

template <typename Number, typename... Base>
void parse_number(toml::Section& section, const char* key, Number& out, Base... base) {
  std::string text;
  section.require(key, kHint);
  const toml::TomlNode* node = section.text(key, text);
  if (!node) return;
  if (const auto number = number_of<Number>(text, base...)) out = *number;
  else
    section.faults().error(node->spot, in_quotes(text) + " is no number of " + in_quotes(key), kHint);
}

void keep_level(Factor& factor, const LayoutReplay& replay, toml::Section& section) {
  const auto wanted = replay.levels.find(factor.name);
  const auto kept = std::find_if(factor.levels.begin(), factor.levels.end(), [&](const Level& level) {
    return wanted != replay.levels.end() && level.name == wanted->second;
  });
  if (kept == factor.levels.end())
    return section.faults().error(section.spot(), "levels has none of factor " + in_quotes(factor.name), kHint);
  factor.levels = {Level(*kept)};
}

bool draws_layouts(const Factor& factor, const Level& level) {
  return (factor.kind == FactorKind::kCode || factor.kind == FactorKind::kStack || factor.kind == FactorKind::kHeap) &&
         !keeps_layout(factor.kind, level);
}

void make_replay(toml::Section& section, Plan& plan) {
  const LayoutReplay& replay = *plan.layout.replay;
  toml::Faults& faults = section.faults();
  if (const auto no = no_replay_of(plan)) return faults.error(section.spot(), no->why, no->hint);
  const size_t before = faults.error_count();
  for (Factor& factor : plan.factors) keep_level(factor, replay, section);
  if (faults.error_count() > before) return;
  if (const auto no = no_replay_of(plan, std::vector<int>(plan.factors.size(), 0)))
    return faults.error(section.spot(), no->why, no->hint);
  Experiment& experiment = plan.experiment;
  experiment.name = experiment.name.substr(0, 70) + "-trial-" + std::to_string(replay.trial) +
                    (replay.draw > 1 ? "-" + std::to_string(replay.draw) : "");
  compare_in_blocks(plan, replay.times);
  plan.machines = {};
  Factor layout;
  layout.name = kReplayFactor;
  layout.levels = {{kFreshLevel, ""}, {replayed_level(replay), ""}};
  layout.spot = section.spot();
  plan.factors.push_back(std::move(layout));
}

}  // namespace

std::string replayed_level(const LayoutReplay& replay) { return "trial-" + std::to_string(replay.trial); }

std::optional<NoReplay> no_replay_of(const Plan& plan) {
  if (plan.causal || plan.layout.confirms || plan.layout.verification)
    return NoReplay{"a plan either replays a trial or does something else", kHint};
  if (plan.counters.simulation.on())
    return NoReplay{"trials of this plan are simulated, and a simulated trial of one layout is always the same",
                    "its own number is the layout's; there was no moment that could have been bad"};
  if (plan.factor_index(kReplayFactor) >= 0)
    return NoReplay{"the plan has a factor " + in_quotes(kReplayFactor) + " of its own", "rename it"};
  return {};
}

// Of a cell that a seed and a link leave as it is, fresh layouts would be the replayed one.
std::optional<NoReplay> no_replay_of(const Plan& plan, const std::vector<int>& levels) {
  if (plan.link.seeds > 1) return {};
  for (size_t f = 0; f < plan.factors.size(); ++f)
    if (draws_layouts(plan.factors[f], plan.factors[f].levels[static_cast<size_t>(levels[f])])) return {};
  return NoReplay{"nothing draws layouts in the trial's cell: code, stack and heap stay, and there is one link",
                  "all its trials ran in one layout, so what differs between them are moments"};
}

void parse_replay(toml::Section& layout, Plan& plan) {
  const toml::TomlNode* node = layout.table("replay");
  if (!node) return;
  toml::Faults& faults = layout.faults();
  const size_t before = faults.error_count();
  toml::Section section(*node, "[layout.replay]", faults);
  LayoutReplay replay;
  section.require("of", kHint);
  section.require("workload", kHint);
  section.text("of", replay.of.name);
  parse_number(section, "submitted", replay.of.submitted_ns);
  parse_number(section, "trial", replay.trial);
  section.text("workload", replay.workload);
  parse_number(section, "seed", replay.seed, 16);
  section.integer("link", 0, kMostLinks, replay.link);
  section.integer("times", 2, kMostReplays, replay.times);
  section.integer("draw", 1, kMostReplays, replay.draw);
  if (section.find("excess")) {
    double excess = 0;
    parse_number(section, "excess", excess);
    if (!std::isfinite(excess)) faults.error(section.spot(), "excess is not finite", kHint);
    replay.excess = excess;
  }
  if (const toml::TomlNode* levels = section.table("levels"))
    for (const toml::TomlEntry& entry : levels->entries) {
      if (entry.value.kind != Kind::kString) toml::wrong_type(faults, entry.key, entry.value, Kind::kString);
      else replay.levels[entry.key] = entry.value.text;
    }
  section.finish();
  if (replay.trial < 1 && faults.error_count() == before) faults.error(section.spot(), "trials are numbered from 1", kHint);
  if (replay.link > plan.link.seeds && faults.error_count() == before)
    faults.error(section.spot(), "the plan has no link " + std::to_string(replay.link), kHint);
  if (faults.error_count() > before) return;
  plan.layout.replay = std::move(replay);
  make_replay(section, plan);
}

std::string replay_lines(const ScreenKey& of, int64_t trial) {
  return "[layout.replay]\nof = " + toml::toml_text(of.name) + "\nsubmitted = \"" + std::to_string(of.submitted_ns) +
         "\"\ntrial = \"" + std::to_string(trial) + "\"\n";
}

int draw_in(std::string_view plan_text, std::string_view lines) {
  constexpr std::string_view kKey = "draw = ";
  const size_t at = plan_text.find(lines);
  if (at == std::string_view::npos) return 0;
  std::string_view left = plan_text.substr(at + lines.size());
  while (!left.empty() && !left.starts_with('[') && !left.starts_with(kKey))
    left.remove_prefix(std::min(left.find('\n'), left.size() - 1) + 1);
  if (!left.starts_with(kKey)) return 1;
  left.remove_prefix(kKey.size());
  const auto number = number_of<int>(left.substr(0, left.find('\n')));
  return number && *number >= 1 && *number <= kMostReplays ? *number : 1;
}

std::string replay_text(const Plan& plan, const LayoutReplay& replay) {
  std::string out = plan.text;
  if (!out.ends_with('\n')) out += '\n';
  char digits[32];
  const auto as_text = [&](auto value, auto... base) {
    return "\"" + std::string(digits, std::to_chars(digits, digits + sizeof digits, value, base...).ptr) + "\"\n";
  };
  out += "\n# Written by 'stabctl replay': the layout of a recorded trial again, and fresh ones of its cell.\n" +
         replay_lines(replay.of, replay.trial) + "workload = " + toml::toml_text(replay.workload) +
         "\nseed = " + as_text(replay.seed, 16) + "link = " + std::to_string(replay.link) +
         "\ntimes = " + std::to_string(replay.times) + "\n";
  if (replay.draw != 1) out += "draw = " + std::to_string(replay.draw) + "\n";
  if (replay.excess) out += "excess = " + as_text(*replay.excess);
  if (replay.levels.empty()) return out;
  out += "levels = {";
  const char* between = " ";
  for (const auto& [factor, level] : replay.levels) {
    out += between + toml::toml_text(factor) + " = " + toml::toml_text(level);
    between = ", ";
  }
  return out + " }\n";
}

}  // namespace stab::plan
