// A plan is read in two phases: toml_reader.cc makes a tree of nodes with places, then each table is read by
// its parse_*.cc. Faults are collected over all tables, so that one run shows them all; only a syntax error
// ends the parse at once. A plan comes out only when there is no error at all.
#include "plan/parse.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/wording.h"
#include "plan/design.h"
#include "plan/layout_scripts.h"
#include "plan/limits.h"
#include "plan/matched_layouts.h"
#include "plan/parse_parts.h"
#include "plan/short_plan.h"
#include "plan/size.h"
#include "plan/slicing.h"
#include "plan/table_of_key.h"
#include "plan/toml/toml_reader.h"
#include "plan/verification_plan.h"

namespace stab::plan {
namespace {

std::string too_large() { return "larger than " + std::to_string(kMaxPlanBytes) + " bytes, the most that a plan may have"; }

// Runs `parse` on a table that may be absent.
template <typename Parse>
void optional_table(toml::Section& root, std::string_view key, Plan& plan, Parse parse) {
  if (const toml::TomlNode* node = root.table(key)) parse(*node, root.faults(), plan);
}

void warn_unused(const std::set<std::string>& used, toml::Faults& faults, const Plan& plan) {
  for (const Factor& factor : plan.factors) {
    if (factor.kind != FactorKind::kTreatment || used.count(factor.name) > 0) continue;
    faults.warning(factor.spot, "no command uses {" + factor.name + "}: its levels run the same thing",
                   "fine for an A/A test; else write {" + factor.name + "} in build or run");
  }
}

// Runs that share a layout seed tell run from layout only where the layout doesn't change on its own.
void warn_runs_per_seed(toml::Faults& faults, const Plan& plan) {
  if (plan.experiment.runs_per_seed < 2 || plan.counters.simulation.on()) return;
  for (const Factor& factor : plan.factors) {
    if (factor.kind != FactorKind::kCode) continue;
    for (const Level& level : factor.levels)
      if (abi::has_layouts(code_mode(level.value)))
        return faults.warning(factor.spot,
                              "runs_per_seed > 1 with code = \"" + level.value +
                                  "\": layouts follow the clock, so runs of one seed differ",
                              "use code = \"once\" to separate layout from run");
  }
}

// Of layouts that come again a map would count one.
void check_repeated_layouts(toml::Faults& faults, const Plan& plan) {
  if (!plan.layout.map || plan.experiment.runs_per_seed < 2) return;
  faults.error(plan.layout.spot,
               "a map compares layouts, and with runs_per_seed = " + std::to_string(plan.experiment.runs_per_seed) +
                   " the trials of one seed have the same ones",
               "leave runs_per_seed out, and write as many more replicates");
}

// Where the value of this key below [TABLE] stands.
SourceSpot spot_in(const toml::TomlNode& tree, std::string_view table_key, std::string_view key) {
  SourceSpot spot = tree.spot;
  for (const toml::TomlEntry& table : tree.entries)
    for (const toml::TomlEntry& entry : table.value.entries)
      if (table.key == table_key && entry.key == key) spot = entry.value.spot;
  return spot;
}

// No boundaries can be made for more.
void check_alpha_of_looks(const toml::TomlNode& tree, toml::Faults& faults, const Plan& plan) {
  if (plan.stopping.looks.size() > 1 && plan.experiment.alpha > kMaxAlphaOfLooks)
    faults.error(spot_in(tree, "experiment", "alpha"), kAlphaOfLooks, "write alpha = 0.05, or rule = \"fixed\"");
}

// What a causal report can't be computed with: a program can't take a whole of its time less, and windows are told apart by
// thousandths of their line's time.
void check_numbers_of_causal(const toml::TomlNode& tree, toml::Faults& faults, const Plan& plan) {
  if (!plan.causal) return;
  if (plan.experiment.margin >= 1)
    faults.error(spot_in(tree, "experiment", "margin"),
                 "[causal] and a margin of 100%: no line makes a program that much faster, so none could be of use",
                 "write the smallest speedup of the program that matters, such as margin = \"2%\"");
  for (const double speedup : plan.causal->speedups) {
    if (std::fabs(speedup * 1000 - std::round(speedup * 1000)) <= 1e-6) continue;
    faults.error(spot_in(tree, "causal", "speedups"),
                 "a speedup of 'speedups' has more than one digit after the point of its percentage",
                 "windows are told apart by tenths of a percent: write speedups = [\"12.5%\", \"25%\"]");
    return;
  }
}

// A number is the experiment of that number, in every command.
void check_is_no_number(const toml::TomlNode& tree, toml::Faults& faults, const std::string& name) {
  if (name.find_first_not_of("0123456789") != std::string::npos) return;
  faults.error(spot_in(tree, "experiment", "name"),
               "experiment name '" + name + "' is a number, and experiments have numbers of their own",
               "add a letter, such as '" + name.substr(0, 20) + "-runs'");
}

// Builds as they are linked have the one layout that the linker made.
void check_about(toml::Faults& faults, const Plan& plan, const Design& design) {
  if (plan.experiment.about != About::kBinaries) return;
  const auto& spot = plan.experiment.about_spot;
  if (plan.link.seeds > 0)
    return faults.error(spot, "about = \"binaries\" asks about builds as they are linked, and link = { seeds = " +
                                  std::to_string(plan.link.seeds) + " } draws other links",
                        "leave one of them out");
  if (design.moves_code())
    faults.error(spot, "about = \"binaries\" asks about builds as they are linked, and code moves in some of the cells",
                 "write code = [\"off\"] below [factors], or leave 'about' out");
}

void check_design(toml::Faults& faults, const Plan& plan, const SourceSpot& factors_spot) {
  const Result<Design> design = make_design(plan);
  if (!design) {
    const SourceSpot& spot = design.error().spot.known() ? design.error().spot : factors_spot;
    faults.error(spot, design.error().message);
    return;
  }
  if (const Status sized = check_trials(plan, *design); !sized) {
    const SourceSpot& spot = sized.error().spot.known() ? sized.error().spot : factors_spot;
    return faults.error(spot, sized.error().message);
  }
  check_slicing(faults, plan, *design);
  check_about(faults, plan, *design);
  // Plain, or everything on, is what such a plan is for.
  const auto switched = [&](const char* factor) {
    return std::find(design->together.begin(), design->together.end(), factor) != design->together.end();
  };
  if (!design->together.empty() && !(switched("code") && switched("stack") && switched("heap"))) {
    std::string names;
    for (const std::string& name : design->together) names += (names.empty() ? "" : ", ") + in_quotes(name);
    faults.warning(plan.factors[static_cast<size_t>(plan.factor_index(design->together[0]))].spot,
                   names + " change together in the cells that are left: they have one effect",
                   "exclude less to tell them apart");
  }
  for (const std::string& name : design->not_estimable)
    faults.warning(plan.factors[static_cast<size_t>(plan.factor_index(name))].spot,
                   "the cells that are left can't tell the effect of '" + name + "' from the others",
                   "exclude less, or drop the factor");
}

}  // namespace

Parsed parse_plan(std::string_view text, const std::string& path, const ParseOptions& options) {
  Parsed out;
  if (text.size() > kMaxPlanBytes) {
    out.errors.push_back(toml::diagnostic_at({}, {path, 0, 0}, "the plan is " + too_large()));
    return out;
  }
  auto read = toml::read_toml(text, path);
  if (auto* syntax = std::get_if<toml::Diagnostic>(&read)) {
    out.errors.push_back(std::move(*syntax));
    return out;
  }
  toml::TomlNode& tree = std::get<toml::TomlNode>(read);
  tree.spot = {path, 1, 1};

  toml::Faults faults(text, path, options.max_errors, options.stored);
  faults.set_tables(table_of_key);
  Plan plan;
  plan.text = text;
  plan.path = path;
  std::set<std::string> used;
  toml::Section root(tree, "the plan", faults);
  toml::TomlNode nothing_said;
  nothing_said.spot = tree.spot;

  optional_table(root, "factors", plan, parse_factors);
  optional_table(root, "counters", plan, parse_counters);
  optional_table(root, "stopping", plan, parse_stopping);
  randomize(tree, faults, plan);
  const toml::TomlNode* experiment = root.table("experiment");
  parse_experiment(experiment != nullptr ? *experiment : nothing_said, tree, faults, plan);
  optional_table(root, "analysis", plan, parse_analysis);
  optional_table(root, "exclusions", plan, parse_exclusions);
  optional_table(root, "machine", plan, parse_machine);
  optional_table(root, "machines", plan, parse_machines);
  optional_table(root, "limits", plan, parse_limits);
  optional_table(root, "causal", plan, parse_causal);
  settle_layouts(plan, options.schedule_version);
  optional_table(root, "layout", plan, parse_layout);
  root.require("program", "add [[program]] with run");
  if (const toml::TomlNode* programs = root.find("program")) {
    parse_programs(*programs, options.files, faults, plan, used);
    if (plan.programs.empty() && faults.error_count() == 0)
      faults.error(programs->spot, "the plan has no program", "add [[program]] with run");
  }
  root.finish();
  if (faults.error_count() == 0) keep_one_workload(plan, faults);

  // Beyond this point a plan without errors is complete; what follows looks at it as a whole.
  if (faults.error_count() == 0) {
    SourceSpot factors_spot = tree.spot, causal_spot = tree.spot;
    for (const toml::TomlEntry& entry : tree.entries) {
      if (entry.key == "factors") factors_spot = entry.key_spot;
      if (entry.key == "causal") causal_spot = entry.key_spot;
    }
    // What was accepted once is read for ever.
    if (!options.stored) {
      check_is_no_number(tree, faults, plan.experiment.name);
      check_alpha_of_looks(tree, faults, plan);
      check_numbers_of_causal(tree, faults, plan);
      check_repeated_layouts(faults, plan);
    }
    check_epoch_by_preflight(tree, plan, faults);
    check_design(faults, plan, factors_spot);
    warn_unused(used, faults, plan);
    check_simulation(faults, plan);
    check_preloaded(faults, plan);
    check_causal(faults, plan, causal_spot);
    check_load(faults, plan, causal_spot);
    check_layout_scripts(plan, faults);
    check_layouts(plan, faults);
    warn_runs_per_seed(faults, plan);
  }
  const bool good = faults.error_count() == 0;
  out.errors = faults.take_errors();
  out.warnings = faults.take_warnings();
  if (good) out.plan = std::move(plan);
  return out;
}

Result<Parsed> load_plan(const std::string& path) {
  std::error_code code;
  const auto kind = std::filesystem::status(path, code).type();
  using Kind = std::filesystem::file_type;
  if (kind == Kind::fifo || kind == Kind::socket || kind == Kind::character || kind == Kind::block)
    return bad_input("plan '" + path + "' is no regular file; write the plan to one, next to which its programs and inputs lie");
  const uintmax_t bytes = std::filesystem::file_size(path, code);
  if (code) return system_error("read plan '" + path + "'", code.value());
  if (bytes > kMaxPlanBytes) return bad_input("plan '" + path + "' is " + too_large());
  std::ifstream file(path, std::ios::binary);
  if (!file) return system_error("read plan '" + path + "'", errno);
  // One byte more than a plan may have: a file that grows, or is none, gives no more either.
  std::string text(kMaxPlanBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (!file.good() && !file.eof()) return system_error("read plan '" + path + "'", EIO);
  const RealFiles files(std::filesystem::absolute(path).parent_path().string());
  return parse_plan(text, path, {.max_errors = 20, .files = &files});
}

}  // namespace stab::plan
