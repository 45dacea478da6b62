// stab-layout says where functions lie and, of each run again, where its image had them. A function whose name another one of
// its build has, too, can't be told from it in the other build, so it is left out.
#include "stabd/engine/results/function_places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "analysis/layout_report/layout_map.h"
#include "base/number_text.h"
#include "base/split.h"
#include "plan/advice/layout_file.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/load_placements.h"
#include "stabd/engine/results/match_tables.h"
#include "stabd/engine/trial/epoch_series.h"
#include "runtime/code/layout_script.h"
#include "stabd/engine/trial/dose.h"

namespace stab::engine {
namespace {

constexpr char kResponse[] = "cpu_time";
// A function with a smaller share of the samples of each build can't make a difference of a percent.
constexpr double kBusy = 0.005;
// With fewer busy ones, quiet functions are looked at, too: 0.3 s of samples may miss what takes a percent, and as many cost
// no more runs.
constexpr size_t kFewMoved = 12;
// Which code the trial ran: of a program whose own code stayed, as all that moves is in libraries, its samples say it.
std::string hash_of_code(const Ran& ran, const EpochSeries& series) {
  if (!ran.text_hash.empty()) return ran.text_hash;
  return series.profile ? hex_text(series.profile->totals.text_hash) : std::string();
}

// What both builds of the experiment's program have in common. Without a table there are no renamed functions.
Result<ProgramMatch> match_of(store::Store& store, const store::TrialRow& trial, const Archive& archive, const LayoutTool& tool) {
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(trial.experiment));
  const auto build = std::find_if(builds.begin(), builds.end(), [&](const auto& one) { return one.index == trial.build; });
  if (build == builds.end()) return ProgramMatch();
  STAB_TRY(ProgramMatch match, match_program(store, trial.experiment, build->program, archive, tool));
  if (match.line.empty()) match.renamed.clear();
  return match;
}

}  // namespace

Result<ListedBuild> list_build(store::Store& store, const store::TrialRow& trial, const Ran& ran, const std::string& text_hash,
                               const Archive& archive, const LayoutTool& tool, const std::string& renames) {
  STAB_TRY(const BinaryFile binary, find_binary(store, trial, archive, true));
  Ran plain = ran;
  plain.script_hash.clear();
  STAB_TRY(const std::string text, tool.output(binary, {"--code", "copy", "--stack", "off", "--range", "4096", "--seed", "0",
                                                        "--image", "0"}, plain, {}));
  STAB_TRY(const std::vector<std::string_view> lines, lines_of_functions(text));
  const std::vector<std::string_view> head = split(lines[0], ' ');
  if (head.size() != 6 || head[0] != "stab-layout" || head[1] != "1") return tool.another_version();
  ListedBuild out;
  out.text_hash = head[2];
  if (out.text_hash != text_hash)
    return Error{ErrorCode::kCorrupt, "'" + binary.path + "' is not what trial " + std::to_string(trial.id) + " ran", {}};
  STAB_TRY(const std::string told, tool.bodies(binary, renames));
  STAB_TRY(out.bodies, read_bodies(told));
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::vector<std::string_view> fields = split(lines[i], '\t');
    ListedFunction function;
    if (fields.size() != 5 || !take(fields[0], 16, function.linked) || !take(fields[1], 10, function.bytes))
      return tool.another_version();
    function.moves = fields[2] != "-";
    function.name = fields[4];
    if (const auto body = out.bodies.functions.find(function.linked); body != out.bodies.functions.end())
      function.identity = body->second.identity;
    out.add(std::move(function));
  }
  return out;
}

namespace {

// Of one that szc did not build nothing is known.
void list_libraries(const std::vector<std::string>& paths, const LayoutTool& tool, ListedBuild& out) {
  for (const std::string& path : paths) {
    const Result<std::string> told = tool.bodies({path, false});
    if (!told) continue;
    if (Result<BuildBodies> bodies = read_bodies(*told)) out.libraries[path.substr(path.rfind('/') + 1)] = *std::move(bodies);
  }
}

void add_samples(const EpochSeries& series, ListedBuild& build) {
  if (!series.profile) return;
  const helper::SampleHeader& totals = series.profile->totals;
  build.in_libraries.add(*series.profile);
  build.samples += static_cast<double>(totals.newest + totals.older + totals.original + totals.elsewhere + totals.kernel);
  for (const helper::FunctionSamples& one : series.profile->functions)
    if (one.function < build.functions.size())
      build.functions[one.function].samples += static_cast<double>(one.newest) + one.older + one.original;
}

Result<std::vector<store::TrialRow>> recorded_trials(store::Store& store, const store::ExperimentRow& row) {
  return store.trials(row.id, {.kind = store::TrialKind::kMain, .state = store::TrialState::kRecorded, .block = {}});
}

double share_of(double samples, const ListedBuild& build) { return build.samples > 0 ? samples / build.samples : 0; }

// Those that were sampled in both builds of a library of szc's, each by its address there, as several may have its name.
template <typename Add>
void add_library_functions(const ListedBuild& older, const ListedBuild& newer, const Add& add) {
  const auto by_name = [](const ListedBuild& build) {
    std::map<std::string, LibraryFunction> out;
    for (const LibraryFunction& one : build.in_libraries.functions()) {
      const auto [named, is_new] = out.emplace(one.name, one);
      named->second.is_several |= !is_new;
    }
    return out;
  };
  const auto before = by_name(older), after = by_name(newer);
  for (const auto& [name, function] : after) {
    const auto was = before.find(name);
    if (was == before.end() || function.is_several || was->second.is_several || function.linked == 0) continue;
    if (function.in_images == 0 || function.file_hash == was->second.file_hash) continue;
    SharedFunction shared;
    shared.library = function.file();
    shared.name = hex_text(function.linked);
    shared.shown = name;
    shared.old_linked = was->second.linked;
    shared.new_linked = function.linked;
    shared.bytes = function.bytes;
    const auto own = static_cast<double>(function.samples), others = static_cast<double>(was->second.samples);
    shared.share = (share_of(own, newer) + share_of(others, older)) / 2;
    add(std::move(shared), may_be_busy(own, newer.samples) || may_be_busy(others, older.samples));
  }
}

std::string names_in_script(const ListedFunction& function, bool is_alone) {
  layout_report::PlacementData::Function named;
  named.linked = function.linked;
  named.name = function.name;
  return name_in_script(named, is_alone ? 1 : 2);
}

}  // namespace

bool may_be_busy(double samples, double all) { return samples > 0 && samples + 2 * std::sqrt(samples) >= kBusy * all; }

namespace {

double error_of_share(double share, const ListedBuild& build) {
  return build.samples > 0 ? std::sqrt(share * (1 - share) / build.samples) : 0;
}

StillFunctions still_of_both(const ListedBuild& older, const ListedBuild& newer) {
  StillFunctions out;
  std::vector<std::pair<double, std::string>> busy;
  for (const ListedFunction& function : newer.functions) {
    const ListedFunction* const before = older.find(function.name);
    if (function.moves || before == nullptr || before->moves || newer.find(function.name) == nullptr) continue;
    if (before->bytes != function.bytes || before->linked % 4096 == function.linked % 4096) continue;
    out.old_share += share_of(before->samples, older);
    out.new_share += share_of(function.samples, newer);
    if (may_be_busy(function.samples, newer.samples) || may_be_busy(before->samples, older.samples))
      busy.emplace_back(share_of(before->samples, older) + share_of(function.samples, newer), function.name);
  }
  out.old_error = error_of_share(out.old_share, older);
  out.new_error = error_of_share(out.new_share, newer);
  std::stable_sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [share, name] : busy) out.names.push_back(std::move(name));
  return out;
}

}  // namespace

SharedFunctions functions_of_both(const ListedBuild& older, const ListedBuild& newer, size_t most) {
  SharedFunctions out;
  out.text_hash = newer.text_hash;
  out.sampled = older.samples > 0 && newer.samples > 0;
  std::vector<SharedFunction> quiet;
  const auto sort_in = [&](SharedFunction shared, bool is_busy) {
    (out.sampled && !is_busy ? quiet : shared.is_moved() ? out.moved : out.stayed).push_back(std::move(shared));
  };
  for (const ListedFunction& function : newer.functions) {
    const double own = share_of(function.samples, newer);
    const ListedFunction* const before = older.find_same(function);
    if (!function.moves || before == nullptr || newer.find_same(function) == nullptr) {
      out.unmatched += own;
      continue;
    }
    SharedFunction shared;
    const bool is_alone = newer.find(function.name) != nullptr;
    shared.name = names_in_script(function, is_alone);
    shared.is_named = is_alone && shared.name == function.name;
    shared.shown = is_alone ? function.name : function.name + " at " + hex_text(function.linked);
    shared.old_linked = before->linked;
    shared.new_linked = function.linked;
    shared.bytes = function.bytes;
    shared.share = (own + share_of(before->samples, older)) / 2;
    // What lies badly in one build may be too fast in the other one to be seen there.
    sort_in(std::move(shared), may_be_busy(function.samples, newer.samples) || may_be_busy(before->samples, older.samples));
  }
  out.still = still_of_both(older, newer);
  add_library_functions(older, newer, sort_in);
  const auto by_weight = [&](const SharedFunction& a, const SharedFunction& b) {
    return a.share != b.share ? a.share > b.share : a.bytes > b.bytes;
  };
  std::stable_sort(out.moved.begin(), out.moved.end(), by_weight);
  std::stable_sort(out.stayed.begin(), out.stayed.end(), by_weight);
  std::stable_sort(quiet.begin(), quiet.end(), by_weight);
  for (SharedFunction& one : quiet) {
    const bool is_looked_at = one.is_moved() && out.moved.size() < kFewMoved;
    (is_looked_at ? out.moved : out.stayed).push_back(std::move(one));
  }
  if (out.moved.size() > most) {
    out.left_out = out.moved.size() - most;
    out.moved.resize(most);
  }
  out.stayed.resize(std::min<size_t>(out.stayed.size(), code::kMostPlaced - out.moved.size()));
  return out;
}

namespace {

// Functions of a program or a library whose instructions or constants another build does not have.
class Changed {
 public:
  Changed(const BuildBodies& of, const BuildBodies& other) : of_(of) {
    for (const auto& [linked, function] : other.functions) others_[function.identity] = &function;
  }
  bool is_at(uint64_t linked) const {
    const auto body = of_.functions.find(linked);
    if (body == of_.functions.end()) return false;
    const auto also = others_.find(body->second.identity);
    return also == others_.end() || also->second->differs_from(body->second) ||
           also->second->uses_other_constants(body->second);
  }

 private:
  const BuildBodies& of_;
  std::unordered_map<uint64_t, const BuildBodies::Function*> others_;  // by identity
};

// Of the samples of this build.
double changed_against(const ListedBuild& build, const ListedBuild& other) {
  double samples = 0;
  const Changed in_program(build.bodies, other.bodies);
  for (const ListedFunction& function : build.functions)
    if (in_program.is_at(function.linked)) samples += function.samples;
  std::map<std::string, Changed> in_libraries;
  for (const auto& [file, bodies] : build.libraries)
    if (const auto also = other.libraries.find(file); also != other.libraries.end())
      in_libraries.try_emplace(file, bodies, also->second);
  for (const LibraryFunction& function : build.in_libraries.functions()) {
    const auto* const library = build.library_of(function.file_hash);
    const auto changed = library == nullptr ? in_libraries.end() : in_libraries.find(library->first);
    if (changed != in_libraries.end() && changed->second.is_at(function.linked))
      samples += static_cast<double>(function.samples);
  }
  return share_of(samples, build);
}

}  // namespace

double share_of_changed(const ListedBuild& older, const ListedBuild& newer) {
  return (changed_against(older, newer) + changed_against(newer, older)) / 2;
}

SharedLibraries libraries_of_both(const ListedBuild& older, const ListedBuild& newer) {
  // By name; what is asked of one that is not there is 0.
  struct Build {
    const ListedBuild& listed;
    std::map<std::string, LibraryFunction> functions;
    std::map<std::string, uint64_t> files;  // hashes of their code

    explicit Build(const ListedBuild& of) : listed(of) {
      for (const LibraryFunction& one : of.in_libraries.functions()) {
        functions[one.name] = one;
        files[one.file()] = one.file_hash;
      }
    }
    double share(uint64_t samples) const { return share_of(static_cast<double>(samples), listed); }
  };
  Build before(older), after(newer);
  // Where a build was not seen in it, there is nothing to compare.
  const auto has_body = [](const LibraryFunction& one, const BuildBodies& bodies) {
    return one.samples == 0 || bodies.functions.contains(one.linked);
  };
  const auto is_compared = [&](const LibraryFunction& old_one, const LibraryFunction& new_one, const std::string& file) {
    const auto* const before_it = older.library_of(before.files[file]);
    const auto* const after_it = newer.library_of(after.files[file]);
    return before_it != nullptr && after_it != nullptr && before_it->first == after_it->first &&
           has_body(old_one, before_it->second) && has_body(new_one, after_it->second);
  };
  SharedLibraries out;
  out.share = (before.share(older.in_libraries.samples()) + after.share(newer.in_libraries.samples())) / 2;
  out.unmoved = (before.share(older.in_libraries.unmoved()) + after.share(newer.in_libraries.unmoved())) / 2;
  std::map<std::string, LibraryFunction> all = before.functions;
  all.insert(after.functions.begin(), after.functions.end());
  for (const auto& [name, any] : all) {
    const LibraryFunction &old_one = before.functions[name], &new_one = after.functions[name];
    const uint64_t hash = before.files[any.file()];
    const bool is_same_file = hash != 0 && hash == after.files[any.file()];
    const auto place = [](uint64_t linked) { return linked % 4096 & ~uint64_t{15}; };
    const bool is_same_place = old_one.linked != 0 && new_one.linked != 0 && place(old_one.linked) == place(new_one.linked);
    const bool moved = old_one.moved || new_one.moved;
    const SharedLibraryFunction function{name,
                                         moved,
                                         !moved && (is_same_file || is_same_place),
                                         old_one.linked,
                                         new_one.linked,
                                         before.share(old_one.samples),
                                         after.share(new_one.samples)};
    if (!moved && !function.lies_alike) out.apart += (function.old_share + function.new_share) / 2;
    if (!is_same_file && !is_compared(old_one, new_one, any.file())) out.rebuilt += (function.old_share + function.new_share) / 2;
    if (may_be_busy(static_cast<double>(old_one.samples), older.samples) ||
        may_be_busy(static_cast<double>(new_one.samples), newer.samples))
      out.functions.push_back(function);
  }
  std::stable_sort(out.functions.begin(), out.functions.end(),
                   [](const auto& a, const auto& b) { return a.old_share + a.new_share > b.old_share + b.new_share; });
  return out;
}

namespace {

Status add_run(const store::Outcome& outcome, CopiedRun& sum) {
  STAB_TRY(const std::optional<Dose> dose, parse_dose(outcome.dose_json));
  if (!dose) return {};
  sum.pointer_entries += static_cast<double>(dose->pointer_entries);
  sum.libraries += static_cast<double>(dose->libraries_moved);
  sum.functions += static_cast<double>(dose->functions_moved);
  sum.cpu_seconds += 1e-9 * static_cast<double>(outcome.user_ns.value_or(0) + outcome.system_ns.value_or(0));
  return {};
}

CopiedRun mean_of(const CopiedRun& sum, double runs) {
  return {sum.pointer_entries / runs, sum.libraries / runs, sum.functions / runs, sum.cpu_seconds / runs};
}

}  // namespace

Result<std::map<std::string, std::array<CopiedRun, 2>>> copied_runs_by_workload(store::Store& store,
                                                                                const store::ExperimentRow& row) {
  STAB_TRY(const std::vector<store::TrialRow> trials, recorded_trials(store, row));
  STAB_TRY(const std::vector<store::SubjectRow> subjects, store.subjects(row.id));
  struct Sums {
    std::array<CopiedRun, 2> of;
    std::array<double, 2> runs{};
  };
  std::map<int64_t, Sums> sums;
  for (const store::TrialRow& trial : trials) {
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    const size_t side = trial.cell == 0 ? 0 : 1;
    Sums& own = sums[trial.subject];
    STAB_CHECK_OK(add_run(outcome, own.of.at(side)));
    ++own.runs.at(side);
  }
  std::map<std::string, std::array<CopiedRun, 2>> out;
  for (const auto& [subject, own] : sums)
    if (own.runs[0] > 0 && own.runs[1] > 0)
      out[subjects.at(static_cast<size_t>(subject)).name] = {mean_of(own.of[0], own.runs[0]), mean_of(own.of[1], own.runs[1])};
  return out;
}

Result<std::array<CopiedRun, 2>> copied_runs(store::Store& store, const store::ExperimentRow& row) {
  STAB_TRY(const auto all, copied_runs_by_workload(store, row));
  if (all.empty())
    return bad_input("experiment " + std::to_string(row.id) + " has no recorded trial of one of its two builds");
  return all.begin()->second;
}

Result<SharedFunctions> shared_functions(store::Store& store, const store::ExperimentRow& row, size_t most,
                                         const Archive& archive, const LayoutTool& tool,
                                         const std::array<std::vector<std::string>, 2>& libraries) {
  STAB_TRY(const std::vector<store::TrialRow> trials, recorded_trials(store, row));
  std::array<std::optional<ListedBuild>, 2> builds;
  ProgramMatch match;
  if (!trials.empty()) {
    STAB_TRY(match, match_of(store, trials[0], archive, tool));
  }
  const std::string renames = match.renamed.empty() ? std::string() : script_of(match);
  for (const store::TrialRow& trial : trials) {
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
    std::optional<ListedBuild>& build = builds.at(trial.cell == 0 ? 0 : 1);
    STAB_TRY(const std::string stored, store.epochs(trial.id));
    EpochSeries series;
    if (!stored.empty()) {
      STAB_TRY(series, decode_epochs(stored));
    }
    if (!build) {
      STAB_TRY(build, list_build(store, trial, ran, hash_of_code(ran, series), archive, tool, renames));
    }
    add_samples(series, *build);
  }
  if (!builds[0] || !builds[1])
    return bad_input("experiment " + std::to_string(row.id) + " has no recorded trial of one of its two builds");
  for (size_t side = 0; side < 2; ++side) list_libraries(libraries.at(side), tool, *builds.at(side));
  SharedFunctions out = functions_of_both(*builds[0], *builds[1], most);
  out.libraries = libraries_of_both(*builds[0], *builds[1]);
  std::set<uint64_t> renamed;
  for (const auto& [identity, first] : match.renamed) renamed.insert(first);
  out.bodies = bodies_of_both(builds[0]->bodies, builds[1]->bodies, renamed);
  for (const auto& [file, older] : builds[0]->libraries)
    if (const auto newer = builds[1]->libraries.find(file); newer != builds[1]->libraries.end())
      add_library(file, bodies_of_both(older, newer->second), out.bodies);
  out.changed = share_of_changed(*builds[0], *builds[1]);
  STAB_TRY(const auto runs, copied_runs(store, row));
  out.older = runs[0], out.newer = runs[1];
  return out;
}

std::string why_unplaced(const SharedFunction& function) {
  if (function.new_linked % layout_report::kGrain != 0) return "it is not aligned by 16, so no layout file can place it";
  if (function.is_named && (!function.library.empty() || advice::is_function_name(function.name))) return {};
  return "a layout file names functions, and it has no name that no other function has";
}

std::string script_of_places(const SharedFunctions& functions) {
  std::string out = "stab-script 1 " + functions.text_hash + "\nrest still\n";
  const auto begin = [](const SharedFunction& one) {
    return "place " + (one.library.empty() ? "" : one.library + "!") + one.name + " mod 4096 ";
  };
  for (const SharedFunction& one : functions.moved)
    out += begin(one) + std::to_string(one.old_place()) + " " + std::to_string(one.new_place()) + "\n";
  for (const SharedFunction& one : functions.stayed) out += begin(one) + std::to_string(one.new_place()) + "\n";
  return out;
}

Result<SharedFunctions> functions_of_script(store::Store& store, const store::ExperimentRow& row, const std::string& script,
                                            const Archive& archive, const LayoutTool& tool) {
  STAB_TRY(const std::vector<store::TrialRow> trials, recorded_trials(store, row));
  if (trials.empty()) return bad_input("experiment " + std::to_string(row.id) + " has no recorded run");
  STAB_TRY(const store::Outcome outcome, store.outcome(trials[0].id));
  STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
  STAB_TRY(const std::string stored, store.epochs(trials[0].id));
  STAB_TRY(const EpochSeries series, decode_epochs(stored));
  SharedFunctions out;
  out.text_hash = hash_of_code(ran, series);
  STAB_TRY(const ListedBuild build, list_build(store, trials[0], ran, out.text_hash, archive, tool, {}));
  // "place NAME mod 4096 OLD NEW"; those with one place are not moved.
  for (const std::string_view line : split(script, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() != 6 || fields[0] != "place" || fields[2] != "mod" || fields[3] != "4096") continue;
    SharedFunction one;
    uint64_t new_place = 0;
    const size_t mark = fields[1].find('!');
    one.library = mark == std::string_view::npos ? "" : fields[1].substr(0, mark);
    one.name = mark == std::string_view::npos ? fields[1] : fields[1].substr(mark + 1);
    one.shown = fields[1];
    const bool is_address = one.name.starts_with("0x") && take(std::string_view(one.name).substr(2), 16, one.new_linked);
    one.is_named = !one.library.empty() || !is_address;
    if (const ListedFunction* listed = is_address ? nullptr : build.find(one.name))
      one.new_linked = listed->linked, one.bytes = listed->bytes;
    if (!take(fields[4], 10, one.old_linked) || !take(fields[5], 10, new_place) || one.new_place() != new_place)
      return bad_input("experiment " + std::to_string(row.id) + " has another layout script than 'stabctl explain' writes: '" +
                       std::string(line) + "'");
    out.moved.push_back(std::move(one));
  }
  if (out.moved.empty()) return bad_input("the layout script of experiment " + std::to_string(row.id) + " moves no function");
  return out;
}

namespace {

// Where the functions lay in a run, modulo 4096, in their order: the program's as its image is computed again, those of libraries
// as the script says. Errors: what was run can't be computed, or is not what was asked.
Result<std::vector<uint32_t>> places_in_run(const SharedFunctions& functions, const BinaryFile& binary, const Ran& ran,
                                            const std::string& script, const LayoutTool& tool) {
  std::vector<std::string> words = {"--code", ran.code, "--stack", ran.stack, "--range", std::to_string(ran.range),
                                    "--seed", std::to_string(ran.seed), "--through", "0"};
  const size_t options = words.size();
  for (const SharedFunction& function : functions.moved)
    if (function.library.empty()) words.push_back(hex_text(function.new_linked));
  std::string text;
  std::vector<std::string_view> fields;
  if (const size_t own = words.size() - options; own > 0) {
    STAB_TRY(text, tool.output(binary, words, ran, script));
    const std::vector<std::string_view> lines = split(text, '\n');
    if (lines.size() >= 2) fields = split(lines[1], '\t');
    if (fields.size() != 1 + 2 * own) return tool.another_version();
  }
  std::vector<uint32_t> out;
  size_t next = 1;
  const auto parsed = std::make_unique<code::LayoutScript>();
  std::string parsed_for;
  for (const SharedFunction& function : functions.moved) {
    uint32_t offset = 0;
    if (function.library.empty()) {
      if (!take(fields[next++], 10, offset)) return tool.another_version();
    } else {
      if (parsed_for != function.library) {
        (void)code::parse_script(script.data(), script.size(), *parsed, function.library.c_str());
        parsed_for = function.library;
      }
      const std::span lines(parsed->placed, parsed->placed_count);
      const auto line = std::find_if(lines.begin(), lines.end(), [&](const code::PlacedFunction& one) {
        return std::string_view(one.name.text, one.name.bytes) == function.name;
      });
      if (line == lines.end()) return Error{ErrorCode::kInternal, "no line of its script is about '" + function.shown + "'", {}};
      offset = code::level_of(*line, ran.seed, 0);
    }
    out.push_back(offset % 4096 & ~15u);
  }
  return out;
}

}  // namespace

Result<std::vector<statistics::PlacedRun>> placed_runs(store::Store& store, const store::ExperimentRow& row,
                                                     const SharedFunctions& functions, const Archive& archive,
                                                     const LayoutTool& tool) {
  STAB_TRY(const std::vector<store::TrialRow> trials, recorded_trials(store, row));
  STAB_TRY(const std::vector<store::SampleRow> samples, store.samples(row.id, kResponse));
  std::map<store::Id, const store::SampleRow*> sample_of;
  for (const store::SampleRow& sample : samples) sample_of[sample.trial] = &sample;
  std::vector<statistics::PlacedRun> out;
  for (const store::TrialRow& trial : trials) {
    const auto sample = sample_of.find(trial.id);
    if (sample == sample_of.end() || !sample->second->value || sample->second->excluded || *sample->second->value <= 0) continue;
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
    STAB_TRY(const std::string stored, store.epochs(trial.id));
    STAB_TRY(const EpochSeries series, decode_epochs(stored));
    STAB_TRY(const BinaryFile binary, find_binary(store, trial, archive, true));
    STAB_TRY(const std::vector<uint32_t> places, places_in_run(functions, binary, ran, series.script, tool));
    statistics::PlacedRun run{sample->second->block, std::log(*sample->second->value), {}};
    for (size_t f = 0; f < functions.moved.size(); ++f) {
      const SharedFunction& function = functions.moved[f];
      const uint32_t place = places[f];
      if (place != function.old_place() && place != function.new_place())
        return Error{ErrorCode::kInternal, "'" + function.shown + "' lay where the script of trial " + std::to_string(trial.id) +
                                               " did not want it", {}};
      run.as_new.push_back(place == function.new_place());
    }
    out.push_back(std::move(run));
  }
  return out;
}

Result<std::vector<statistics::CauseBlock>> cause_blocks(store::Store& store, const store::ExperimentRow& row,
                                                         const std::string& response) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const std::vector<store::SampleRow> samples, store.samples(row.id, response));
  // By block: old off, old drawn, new off, new drawn.
  std::map<uint32_t, std::array<std::optional<double>, 4>> blocks;
  for (const store::SampleRow& sample : samples) {
    if (!sample.value || sample.excluded || *sample.value <= 0) continue;
    const plan::Cell& cell = expanded.design.cells.at(static_cast<size_t>(sample.cell));
    const int which = 2 * cell.levels.at(0) + cell.levels.at(1);
    blocks[sample.block].at(static_cast<size_t>(which)) = std::log(*sample.value);
  }
  std::vector<statistics::CauseBlock> out;
  for (const auto& [number, times] : blocks)
    if (times[0] && times[1] && times[2] && times[3]) out.push_back({*times[0], *times[2], *times[1], *times[3]});
  return out;
}

}  // namespace stab::engine
