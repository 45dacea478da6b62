// Three steps. Units: the epochs of each trial, joined where the layout stayed, with what doesn't compare left out. The work: of
// the points that were visited the one by which CPU time varies least. Places: stab-layout draws each trial's layouts again.
#include "stabd/engine/results/load_placements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "analysis/statistics/places/placements.h"
#include "base/like.h"
#include "base/number_text.h"
#include "base/split.h"
#include "plan/design.h"
#include "plan/layout_confirmation.h"
#include "runtime/code/layout_script.h"
#include "stabd/engine/results/layout_tool.h"
#include "stabd/engine/results/library_samples.h"
#include "stabd/engine/results/match_tables.h"
#include "stabd/engine/trial/epoch_series.h"

namespace stab::engine {
namespace {

using layout_report::PlacementData;

// Epochs of less than this share of the median's CPU time are ends cut off; of more than this many times its wall time, late.
constexpr double kShort = 0.25, kLate = 3;
// Of a point that is visited less often in an epoch, where another one is there, the counting alone is noise.
constexpr double kFewVisits = 20;
constexpr size_t kLeastForNoise = 20;

struct Unit {
  uint32_t image = helper::kNoImage, refill = helper::kNoImage;
  uint64_t cpu_ns = 0, wall_ns = 0;
  std::vector<uint64_t> visits;  // by the group's points
  bool usable = true;
  bool ordered = false;  // by the program, which has waited for it: its wall time says nothing
};

struct TrialUnits {
  store::Id trial = 0;
  int cell = 0;
  Ran ran;
  std::string script;  // that it followed
  std::vector<Unit> units;
};

// All samples of a function, and those in images before the newest.
struct Hits {
  uint64_t all = 0, older = 0;
};

// A shared library whose code moved, in trials of one build.
struct MovedLibrary {
  std::set<uint64_t> text_hashes;  // one, but where a trial found another build of it
  std::string path;
  uint64_t drawn_by = 0;
  std::map<uint64_t, Hits> of;  // by the function's link-time address
};

// Samples of all trials: of each function by its index in the metadata, and of all.
struct Samples {
  std::map<uint32_t, Hits> of;
  uint64_t all = 0;
  LibrarySamples in_libraries;
  std::map<std::string, MovedLibrary> moved;  // by what its file is called
};

// A library is known by the hash of its code and what its layouts are drawn by, before its name is.
using LibraryKey = std::pair<std::string, uint64_t>;

struct Group {
  Samples samples;
  int subject = 0, build = 0;
  BinaryFile binary;
  std::string text_hash;
  bool by_trial = false;
  std::vector<std::string> points;
  std::vector<TrialUnits> trials;
  std::map<LibraryKey, std::string> libraries;  // that moved, sampled or not: a path of each
  std::string match_rows;  // of the match table that scripts of its trials name, behind a byte 0
  std::map<std::string, uint64_t> left_out;

  std::string script_of(const TrialUnits& trial) const {
    return trial.script.find("\nmatch ") == std::string::npos ? trial.script : trial.script + match_rows;
  }
};

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

// Whether an epoch has the layout of the unit before. Pads are drawn anew although nobody has entered the image: then no function
// was called, and those that are from now on have the new pads.
bool stays_in(const Unit& unit, const Epoch& epoch) {
  return unit.image == epoch.image && (unit.refill == epoch.refill || (epoch.flags & helper::kEpochUnentered) != 0);
}

// The epochs of a trial; those in which the layout of the one before stayed are part of it.
std::vector<Unit> units_of(const EpochSeries& series, Group& group) {
  std::vector<size_t> columns;
  for (const std::string& point : series.points) columns.push_back(index_of(group.points, point));
  std::vector<Unit> out;
  for (const Epoch& epoch : epochs_of(series)) {
    if (!out.empty() && stays_in(out.back(), epoch)) ++group.left_out["joined to the epoch before, whose layout stayed"];
    else out.emplace_back().image = epoch.image;
    Unit& unit = out.back();
    unit.refill = epoch.refill;
    unit.cpu_ns += epoch.cpu_ns;
    unit.wall_ns += epoch.wall_ns;
    unit.usable = unit.usable && epoch.cpu_known;
    unit.ordered = unit.ordered || (epoch.flags & helper::kEpochOrdered) != 0;
    unit.visits.resize(group.points.size(), 0);
    for (size_t k = 0; k < columns.size(); ++k) unit.visits[columns[k]] += epoch.visits[k];
  }
  return out;
}

void add_profile(const FunctionProfile& profile, Group& group) {
  const helper::SampleHeader& totals = profile.totals;
  group.samples.all += totals.newest + totals.older + totals.original + totals.elsewhere + totals.kernel;
  for (const helper::FunctionSamples& function : profile.functions) {
    Hits& hits = group.samples.of[function.function];
    hits.all += uint64_t{function.newest} + function.older + function.original;
    hits.older += function.older;
  }
  for (const SampledFile& file : profile.files) {
    if (!file.moved || file.path.empty() || file.drawn_by == 0) continue;
    MovedLibrary& library = group.samples.moved[file.file];
    library.text_hashes.insert(file.text_hash);
    library.path = file.path;
    library.drawn_by = file.drawn_by;
    for (const SampledFile::Function& function : file.functions) {
      library.of[function.linked].all += function.samples();
      library.of[function.linked].older += function.older;
    }
  }
  group.samples.in_libraries.add(profile);
}

void mark_unusable(Group& group) {
  std::vector<double> cpu, wall;
  for (const TrialUnits& trial : group.trials)
    for (const Unit& unit : trial.units) {
      if (unit.cpu_ns > 0) cpu.push_back(static_cast<double>(unit.cpu_ns));
      wall.push_back(static_cast<double>(unit.wall_ns));
    }
  const double least_cpu = kShort * median_of(std::move(cpu)), most_wall = kLate * median_of(std::move(wall));
  for (TrialUnits& trial : group.trials) {
    for (size_t i = 0; i < trial.units.size(); ++i) {
      Unit& unit = trial.units[i];
      unit.visits.resize(group.points.size(), 0);
      const char* why = nullptr;
      if (i == 0) why = "first of its trial, with the program's start";
      else if (!unit.usable) why = "without a CPU time";
      else if (static_cast<double>(unit.cpu_ns) < least_cpu) why = "with little CPU time";
      else if (!unit.ordered && static_cast<double>(unit.wall_ns) > most_wall) why = "ended late";
      if (!why) continue;
      unit.usable = false;
      ++group.left_out[why];
    }
  }
}

double signal_of(const Unit& unit, size_t point) {
  if (!unit.usable || unit.cpu_ns == 0 || unit.visits[point] == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::log(static_cast<double>(unit.cpu_ns) / static_cast<double>(unit.visits[point]));
}

struct Steadiness {
  size_t point = 0;
  double noise = 0;   // sd of an epoch, of the logarithm
  double visits = 0;  // median of an epoch
  size_t epochs = 0;  // that visited it
};

std::optional<Steadiness> steadiness_of(const Group& group, size_t point) {
  std::vector<double> signal, visits;
  std::vector<uint32_t> series;
  for (const TrialUnits& trial : group.trials)
    for (const Unit& unit : trial.units) {
      signal.push_back(signal_of(unit, point));
      series.push_back(static_cast<uint32_t>(trial.trial));
      if (std::isfinite(signal.back())) visits.push_back(static_cast<double>(unit.visits[point]));
    }
  const size_t epochs = visits.size();
  const statistics::Differences differences(signal, series);
  if (differences.rows().size() < kLeastForNoise) return std::nullopt;
  return Steadiness{point, differences.scale() / std::sqrt(statistics::kDifferenceVariance), median_of(std::move(visits)),
                    epochs};
}

std::string figure_of(const Group& group, const std::optional<Steadiness>& found, size_t point) {
  size_t visited = 0, all = 0;
  for (const TrialUnits& trial : group.trials)
    for (const Unit& unit : trial.units) {
      visited += unit.visits[point] > 0;
      ++all;
    }
  char noise[48] = "";
  if (found) std::snprintf(noise, sizeof noise, ", noise of an epoch %.3g %%", 100 * found->noise);
  return "'" + group.points[point] + "' was visited in " + std::to_string(visited) + " of " + std::to_string(all) + " epochs" +
         noise;
}

// Where CPU time by it is noisier than this from epoch to epoch, a count is of something else than the work.
constexpr double kUnsteady = 0.5;

struct Choice {
  std::optional<Steadiness> best;
  std::string figures;  // of each point that was wanted
};

// The point by which CPU time varies least. `wanted`: points to choose from; empty: all.
Choice choose_steadiest(const Group& group, const std::vector<std::string>& wanted) {
  Choice out;
  for (size_t point = 0; point < group.points.size(); ++point) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), group.points[point]) == wanted.end()) continue;
    const std::optional<Steadiness> found = steadiness_of(group, point);
    out.figures += (out.figures.empty() ? "" : "; ") + figure_of(group, found, point);
    if (!found || found->noise > kUnsteady) continue;
    const auto is_coarse = [](const Steadiness& one) { return one.visits < kFewVisits; };
    if (!out.best || (is_coarse(*out.best) != is_coarse(*found) ? is_coarse(*out.best) : found->noise < out.best->noise))
      out.best = found;
  }
  return out;
}

Result<Steadiness> choose_work(const Group& group, const plan::Plan& plan, const std::string& workload) {
  const std::string cure = "put STAB_PROGRESS(\"NAME\") of stab/progress.h where a piece of the work is done, or map whole runs: "
                           "code = [\"once\"] and 200 replicates or more";
  const Choice choice = choose_steadiest(group, plan.layout.progress);
  if (choice.best) return *choice.best;
  if (group.points.empty())
    return bad_input("nothing counts the work that " + workload + " does in an epoch: it has visited no progress point; " + cure);
  if (choice.figures.empty()) {
    std::string known;
    for (const std::string& point : group.points) known += (known.empty() ? "'" : ", '") + point + "'";
    return bad_input("'progress' of [layout] names no point that " + workload + " has visited; it has visited " + known);
  }
  return bad_input("nothing counts the work of " + workload + " steadily: " + choice.figures + "; " + cure);
}

// --- places -----------------------------------------------------------------------------------------------------------

std::vector<std::string> words_for(const Ran& ran) {
  return {"--code", ran.code, "--stack", ran.stack, "--range", std::to_string(ran.range), "--seed", std::to_string(ran.seed)};
}

// The functions of a file, as stab-layout names them.
struct Listed {
  std::string library;  // what it is called; empty: it is the program
  std::vector<PlacementData::Function> moving;
  std::map<std::string, size_t> named;  // how many have a name; those that never move count, too
};

// `hits`: what was sampled of the function of that index, which is linked there.
template <typename HitsOf>
Result<Listed> functions_in(const LayoutTool& tool, const Group& group, const BinaryFile& file, std::vector<std::string> words,
                            const std::string& text_hash, HitsOf hits_of) {
  words.insert(words.end(), {"--image", "0"});
  STAB_TRY(const std::string text, tool.output(file, words, group.trials.front().ran, group.script_of(group.trials.front())));
  STAB_TRY(const std::vector<std::string_view> lines, lines_of_functions(text));
  const std::optional<LayoutHead> head = read_head(lines[0]);
  if (!head) return tool.another_version();
  if (head->text_hash != text_hash)
    return Error{ErrorCode::kCorrupt,
                 "'" + file.path + "' is not what the trials ran: its code has hash " + head->text_hash + ", theirs " + text_hash,
                 {}};
  Listed out;
  out.library = head->library;
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::vector<std::string_view> fields = split(lines[i], '\t');
    PlacementData::Function function;
    if (fields.size() != 5 || !take(fields[0], 16, function.linked) || !take(fields[1], 10, function.bytes))
      return tool.another_version();
    function.name = fields[4];
    ++out.named[function.name];
    if (fields[2] == "-") continue;
    if (group.samples.all > 0) {
      const Hits hits = hits_of(static_cast<uint32_t>(i - 1), function.linked);
      function.samples = static_cast<double>(hits.all) / static_cast<double>(group.samples.all);
      if (hits.all > 0) function.older = static_cast<double>(hits.older) / static_cast<double>(hits.all);
    }
    out.moving.push_back(std::move(function));
  }
  return out;
}

template <typename Key>
Hits hits_at(const std::map<Key, Hits>& of, Key key) {
  const auto at = of.find(key);
  return at == of.end() ? Hits() : at->second;
}

// Of the program's own. One whose code stayed may be anybody's.
Result<Listed> functions_of(const LayoutTool& tool, const Group& group) {
  if (group.text_hash.empty()) return Listed();
  return functions_in(tool, group, group.binary, words_for(group.trials.front().ran), group.text_hash,
                      [&](uint32_t index, uint64_t) { return hits_at(group.samples.of, index); });
}

// Whether a library's file is gone, was built again, or has more functions than are told: no other file's are wrong then.
bool is_of_its_file(const Error& error) { return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kUnavailable; }

// Where nothing was sampled, all that moved is as good as any other. What a library is called, its file says.
Status take_unsampled(const LayoutTool& tool, Group& group, PlacementData& data) {
  for (const auto& [key, path] : group.libraries) {
    const auto no_hits = [](uint32_t, uint64_t) { return Hits(); };
    const Ran& ran = group.trials.front().ran;
    const Result<Listed> listed =
        functions_in(tool, group, {path, false}, words_for_library(ran, key.second), key.first, no_hits);
    uint64_t text_hash = 0;
    if (!listed && !is_of_its_file(listed.error())) return listed.error();
    if (!listed) {
      data.libraries_left_out.push_back({path, listed.error().message});
      continue;
    }
    (void)take(std::string_view(key.first).substr(std::string_view("0x").size()), 16, text_hash);
    MovedLibrary& library = group.samples.moved[listed->library];
    library.text_hashes.insert(text_hash);
    library.path = path;
    library.drawn_by = key.second;
  }
  return {};
}

// Adds those of each library that moved, so far as its file is still where the program found it. What is wrong with a library,
// such as that it has too many functions, says nothing of the rest.
Status add_libraries(const LayoutTool& tool, Group& group, PlacementData& data) {
  if (group.samples.all == 0) STAB_CHECK_OK(take_unsampled(tool, group, data));
  for (const auto& [name, library] : group.samples.moved) {
    const auto leave_out = [&data, &name](const std::string& why) { data.libraries_left_out.push_back({name, why}); };
    if (library.text_hashes.size() != 1) {
      leave_out("trials of one build found several builds of it");
      continue;
    }
    const auto hits_of = [&of = library.of](uint32_t, uint64_t linked) { return hits_at(of, linked); };
    Result<Listed> listed =
        functions_in(tool, group, {library.path, false}, words_for_library(group.trials.front().ran, library.drawn_by),
                     hex_text(*library.text_hashes.begin()), hits_of);
    if (!listed && !is_of_its_file(listed.error())) return listed.error();
    if (!listed) {
      leave_out(listed.error().message);
      continue;
    }
    for (PlacementData::Function& function : listed->moving) {
      function.library = name;
      function.name.insert(0, name + "!");
      data.functions.push_back(std::move(function));
    }
  }
  return {};
}

// What is sampled in libraries, but for what is among the functions.
void tell_rest_of_libraries(const Group& group, PlacementData& data) {
  std::set<std::string> looked_at;
  for (const PlacementData::Function& function : data.functions)
    if (!function.library.empty()) looked_at.insert(function.name);
  for (const LibraryFunction& one : group.samples.in_libraries.functions())
    if (!one.moved || looked_at.count(one.name) == 0)
      data.in_libraries.push_back({one.name, static_cast<double>(one.samples) / static_cast<double>(group.samples.all)});
}

bool is_named_by(const PlacementData::Function& function, const std::string& pattern) {
  const size_t own = function.library.empty() ? 0 : function.library.size() + 1;
  return is_like(function.name, pattern) || is_like(function.name.substr(own), pattern);
}

void choose_functions(const plan::Plan& plan, const std::set<FunctionKey>& wanted,
                      std::vector<PlacementData::Function>& functions) {
  if (!wanted.empty()) {
    std::erase_if(functions, [&](const auto& function) { return wanted.count({function.library, function.linked}) == 0; });
    return;
  }
  if (!plan.layout.only.empty())
    std::erase_if(functions, [&](const auto& function) {
      return std::none_of(plan.layout.only.begin(), plan.layout.only.end(),
                          [&](const std::string& pattern) { return is_named_by(function, pattern); });
    });
  const bool sampled =
      std::any_of(functions.begin(), functions.end(), [](const auto& function) { return function.samples.has_value(); });
  if (sampled)
    std::erase_if(functions, [](const auto& function) { return function.samples.value_or(0) < layout_report::kHotShare; });
  if (functions.size() <= layout_report::kMostMapped) return;
  std::stable_sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) {
    return a.samples.value_or(0) != b.samples.value_or(0) ? a.samples.value_or(0) > b.samples.value_or(0) : a.bytes > b.bytes;
  });
  functions.resize(layout_report::kMostMapped);
  std::sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) {
    return std::tie(a.library, a.linked) < std::tie(b.library, b.linked);
  });
}

// Rows of offsets and pads, by number of the image and of the refill.
struct Drawn {
  std::vector<std::vector<uint16_t>> offset, pad;
};

bool take_page_offset(std::string_view field, uint16_t& out) {
  uint32_t value = 0;
  if (field == "-") return out = layout_report::kNowhere, true;
  if (!take(field, 10, value)) return false;
  out = static_cast<uint16_t>(value % 4096);
  return true;
}

// Of one file, `library` or the program: where its functions lie, in the columns of theirs. pre: `columns` is not empty
Status draw_file(const LayoutTool& tool, const Group& group, const TrialUnits& trial, const MovedLibrary* library,
                 const std::vector<PlacementData::Function>& functions, const std::vector<size_t>& columns, Drawn& drawn) {
  std::vector<std::string> words = library == nullptr ? words_for(trial.ran) : words_for_library(trial.ran, library->drawn_by);
  words.insert(words.end(), {"--through", std::to_string(drawn.offset.size() - 1)});
  for (const size_t column : columns) words.push_back(hex_text(functions[column].linked));
  const BinaryFile file = library == nullptr ? group.binary : BinaryFile{library->path, false};
  STAB_TRY(const std::string text, tool.output(file, words, trial.ran, group.script_of(trial)));
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1));
  for (size_t number = 0; number < drawn.offset.size(); ++number) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return tool.another_version();
    const std::vector<std::string_view> fields = split(rest.substr(0, end), '\t');
    rest.remove_prefix(end + 1);
    if (fields.size() != 1 + 2 * columns.size()) return tool.another_version();
    for (size_t f = 0; f < columns.size(); ++f)
      if (!take_page_offset(fields[1 + f], drawn.offset[number][columns[f]]) ||
          !take_page_offset(fields[1 + columns.size() + f], drawn.pad[number][columns[f]]))
        return tool.another_version();
  }
  return rest.empty() ? Status() : tool.another_version();
}

// `drawing`: the library that is at it, also where that fails; empty: the program.
Result<Drawn> draw_again(const LayoutTool& tool, const Group& group, const TrialUnits& trial,
                         const std::vector<PlacementData::Function>& functions, std::string& drawing) {
  uint32_t last = 0;
  for (const Unit& unit : trial.units)
    for (const uint32_t which : {unit.image, unit.refill})
      if (which != helper::kNoImage) last = std::max(last, which);
  const std::vector<std::vector<uint16_t>> nowhere(size_t{last} + 1,
                                                   std::vector<uint16_t>(functions.size(), layout_report::kNowhere));
  Drawn drawn{nowhere, nowhere};
  std::map<std::string, std::vector<size_t>> columns;  // by library
  for (size_t f = 0; f < functions.size(); ++f) columns[functions[f].library].push_back(f);
  for (const auto& [name, of] : columns) {
    drawing = name;
    const MovedLibrary* const library = name.empty() ? nullptr : &group.samples.moved.at(name);
    STAB_CHECK_OK(draw_file(tool, group, trial, library, functions, of, drawn));
  }
  return drawn;
}

void add_row(const Drawn& drawn, const Unit& unit, bool has_pads, PlacementData& data) {
  const std::vector<uint16_t> nowhere(data.functions.size(), layout_report::kNowhere);
  const auto& offset = unit.image != helper::kNoImage ? drawn.offset[unit.image] : nowhere;
  const auto& pad = has_pads && unit.refill != helper::kNoImage ? drawn.pad[unit.refill] : nowhere;
  data.offset.insert(data.offset.end(), offset.begin(), offset.end());
  data.pad.insert(data.pad.end(), pad.begin(), pad.end());
}

// Levels of a script come once in each run of so many images (runtime/code/layout_script.h).
constexpr uint32_t kScriptBlock = 4;

Status fill(const LayoutTool& tool, const Group& group, std::optional<size_t> point, PlacementData& data, std::string& drawing) {
  std::vector<double> cpu, work;
  data.signal.clear(), data.series.clear(), data.stratum.clear(), data.offset.clear(), data.pad.clear();
  for (const TrialUnits& trial : group.trials) {
    STAB_TRY(const Drawn drawn, draw_again(tool, group, trial, data.functions, drawing));
    const auto series = static_cast<uint32_t>(group.by_trial ? trial.cell : static_cast<int>(&trial - group.trials.data()));
    uint32_t stratum = 0, block = 0;
    for (const Unit& unit : trial.units) {
      const uint32_t in_block = data.forced && unit.image != helper::kNoImage ? unit.image / kScriptBlock : 0;
      if (&unit == &trial.units.front() || in_block != block) ++stratum;
      block = in_block;
      const double signal = point           ? signal_of(unit, *point)
                            : unit.cpu_ns > 0 ? std::log(static_cast<double>(unit.cpu_ns))
                                              : std::numeric_limits<double>::quiet_NaN();
      data.signal.push_back(signal);
      data.series.push_back(series);
      data.stratum.push_back(data.forced ? stratum : series);
      add_row(drawn, unit, !group.by_trial, data);
      if (!std::isfinite(signal)) continue;
      cpu.push_back(static_cast<double>(unit.cpu_ns));
      if (point) work.push_back(static_cast<double>(unit.visits[*point]));
    }
  }
  data.unit_ms = median_of(std::move(cpu)) * 1e-6;
  data.work_per_unit = median_of(std::move(work));
  return {};
}

// A library whose layouts take too long is left out, and the others are drawn again without it.
Status fill_with_what_can_be_drawn(const LayoutTool& tool, const Group& group, std::optional<size_t> point, PlacementData& data) {
  for (;;) {
    std::string drawing;
    const Status filled = fill(tool, group, point, data, drawing);
    if (filled || drawing.empty() || !is_of_its_file(filled.error())) return filled;
    std::erase_if(data.functions, [&drawing](const auto& function) { return function.library == drawing; });
    if (data.functions.empty()) return filled;
    data.libraries_left_out.push_back({drawing, filled.error().message});
  }
}

Result<Placements> placements_of(Group& group, const plan::Plan& plan, const std::string& workload,
                                 const std::set<FunctionKey>& wanted, const LayoutTool& tool) {
  Placements out;
  out.subject = group.subject;
  out.build = group.build;
  out.text_hash = group.text_hash;
  PlacementData& data = out.data;
  data.experiment = plan.experiment.name;
  data.workload = workload;
  data.unit = group.by_trial ? "trial" : "epoch";
  data.forced = group.trials.front().ran.code == "design";
  data.left_out.assign(group.left_out.begin(), group.left_out.end());
  std::optional<size_t> point;
  if (!group.by_trial) {
    STAB_TRY(const Steadiness work, choose_work(group, plan, workload));
    point = work.point;
    data.work = "visits of '" + group.points[work.point] + "'";
  }
  STAB_TRY(Listed listed, functions_of(tool, group));
  data.functions = std::move(listed.moving);
  STAB_CHECK_OK(add_libraries(tool, group, data));
  data.program_functions = data.functions.size();
  tell_rest_of_libraries(group, data);
  choose_functions(plan, wanted, data.functions);
  if (data.functions.empty())
    return bad_input(plan.layout.only.empty() ? "no function of " + workload + " moves"
                                              : "'only' of [layout] names no function of " + workload + " that moves");
  STAB_CHECK_OK(fill_with_what_can_be_drawn(tool, group, point, data));
  return out;
}

// One unit of a trial whose layout lasts as long as it does.
Unit whole_trial(const store::Outcome& outcome) {
  Unit unit;
  unit.image = 0;
  if (outcome.user_ns && outcome.system_ns) unit.cpu_ns = static_cast<uint64_t>(*outcome.user_ns + *outcome.system_ns);
  if (outcome.wall_ns) unit.wall_ns = static_cast<uint64_t>(*outcome.wall_ns);
  return unit;
}

using GroupKey = std::pair<int, int>;

// Once for the trials of one build, whose scripts name the same table. pre: the trial is the last of the group
Status find_table(store::Store& store, const store::TrialRow& trial, const Archive& archive, const LayoutTool& tool,
                  Group& group) {
  const std::string& script = group.trials.back().script;
  if (!group.match_rows.empty()) return {};
  STAB_TRY(const std::string whole, script_with_table(store, trial, script, archive, tool));
  group.match_rows = whole.substr(script.size());
  return {};
}

Status take_trial(store::Store& store, const store::TrialRow& trial, const Archive& archive, const LayoutTool& tool,
                  std::map<GroupKey, Group>& groups, uint64_t& without_epochs) {
  STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
  if (outcome.dose_json.empty() || !outcome.excluded_by.empty() || trial.pass != 0) return {};
  STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
  const bool moved = !ran.text_hash.empty() || !ran.libraries.empty();
  if (!moved || ran.code == "copy" || ran.code == "off") return {};
  STAB_TRY(const std::string stored, store.epochs(trial.id));
  const bool by_trial = abi::has_one_layout(plan::code_mode(ran.code));
  if (stored.empty() && !by_trial) {
    ++without_epochs;
    return {};
  }
  Group& group = groups[{trial.subject, by_trial ? -1 - trial.build : trial.build}];
  if (group.trials.empty()) {
    group.subject = trial.subject;
    group.build = trial.build;
    group.by_trial = by_trial;
    group.text_hash = ran.text_hash;
    if (!ran.text_hash.empty()) {
      STAB_TRY(group.binary, find_binary(store, trial, archive, true));
    }
  }
  for (const MovedFile& library : ran.libraries)
    if (!library.path.empty()) group.libraries[{library.text_hash, library.drawn_by}] = library.path;
  if (ran.text_hash.empty() && !group.text_hash.empty()) return {};  // its own code stayed, whatever kept it
  if (ran.text_hash != group.text_hash)
    return Error{
        ErrorCode::kCorrupt, "trials of one build ran code with hashes " + group.text_hash + " and " + ran.text_hash, {}};
  TrialUnits units{trial.id, trial.cell, ran, {}, {}};
  if (by_trial) units.units.push_back(whole_trial(outcome));
  if (!stored.empty()) {
    STAB_TRY(const EpochSeries series, decode_epochs(stored));
    if (!by_trial) units.units = units_of(series, group);
    units.script = series.script;
    if (series.profile) add_profile(*series.profile, group);
  }
  group.trials.push_back(std::move(units));
  return find_table(store, trial, archive, tool, group);
}

// Trials of one seed have the same layouts, so they are no draws of their own, and what else these layouts do would come to light
// once for each of them. The first one stands for all.
void leave_out_repeats(Group& group) {
  std::set<uint64_t> seeds;
  std::erase_if(group.trials, [&](const TrialUnits& trial) {
    if (seeds.insert(trial.ran.seed).second) return false;
    group.left_out["in layouts that an earlier trial has had"] += trial.units.size();
    return true;
  });
}

}  // namespace

std::string name_in_script(const PlacementData::Function& function, size_t same) {
  const std::string address = hex_text(function.linked);
  // stab-layout makes a name up for a stripped function, and prints '?' for odd bytes; a '!' would end a library's name.
  const bool is_symbol = function.name != "fn_" + address.substr(2) && function.name.find_first_of("?!\"\\") == std::string::npos;
  return same == 1 && is_symbol && function.name.size() <= code::kMostCountedName ? function.name : address;
}

std::string reasons_of(const std::vector<RefusedMap>& refused) {
  std::string out;
  std::set<std::string_view> said;
  for (const RefusedMap& one : refused)
    if (said.insert(one.why).second) out += (out.empty() ? "" : "; ") + one.why;
  return out;
}

Steadiest steadiest_point(const EpochSeries& series) {
  Group group;
  TrialUnits units;
  units.units = units_of(series, group);
  group.trials.push_back(std::move(units));
  mark_unusable(group);
  Steadiest out;
  const Choice choice = choose_steadiest(group, {});
  out.figures = choice.figures;
  if (choice.best) out.point = group.points[choice.best->point];
  return out;
}

Result<std::vector<std::string>> hot_functions(store::Store& store, const store::TrialRow& trial, const store::Outcome& outcome,
                                               const EpochSeries& series, size_t most, const LayoutTool& tool,
                                               const Archive& archive) {
  STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
  Group group;
  group.text_hash = ran.text_hash;
  if (ran.text_hash.empty()) return std::vector<std::string>();
  STAB_TRY(group.binary, find_binary(store, trial, archive, true));
  group.trials.push_back({trial.id, trial.cell, ran, series.script, {}});
  STAB_CHECK_OK(find_table(store, trial, archive, tool, group));
  if (series.profile) add_profile(*series.profile, group);
  STAB_TRY(Listed listed, functions_of(tool, group));
  std::vector<PlacementData::Function>& functions = listed.moving;
  std::erase_if(functions, [](const PlacementData::Function& function) { return function.samples.value_or(0) <= 0; });
  std::stable_sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) { return *a.samples > *b.samples; });
  std::vector<std::string> out;
  for (size_t i = 0; i < functions.size() && out.size() < most; ++i)
    out.push_back(name_in_script(functions[i], listed.named[functions[i].name]));
  return out;
}

Result<LoadedPlacements> load_placements(store::Store& store, const store::ExperimentRow& row, const plan::Plan& plan,
                                         const std::vector<plan::Subject>& subjects, const std::set<FunctionKey>& functions,
                                         const LayoutTool& tool, const Archive& archive) {
  std::map<GroupKey, Group> groups;
  uint64_t without_epochs = 0;
  STAB_TRY(const std::vector<store::TrialRow> trials,
           store.trials(row.id, {.kind = store::TrialKind::kMain, .state = store::TrialState::kRecorded, .block = {}}));
  for (const store::TrialRow& trial : trials) {
    // A bundle may have been made by anybody.
    if (trial.subject < 0 || static_cast<size_t>(trial.subject) >= subjects.size())
      return Error{ErrorCode::kCorrupt, "trial " + std::to_string(trial.id) + " is of a workload that the plan doesn't make", {}};
    STAB_CHECK_OK(take_trial(store, trial, archive, tool, groups, without_epochs));
  }
  if (groups.empty())
    return bad_input("experiment " + std::to_string(row.id) + " has nothing to map: " +
                     (without_epochs > 0
                          ? std::to_string(without_epochs) + " trials had layouts, but their epochs were not kept; write "
                                                             "map = true under [layout], or record_epochs = true"
                          : "no recorded trial drew layouts of code; write code = [\"shuffle\"] under [factors]"));
  LoadedPlacements out;
  for (auto& [key, group] : groups) {
    leave_out_repeats(group);
    // Trials of one cell stand together, in the order in which they ran: cells may differ by more than their layouts.
    if (group.by_trial)
      std::stable_sort(group.trials.begin(), group.trials.end(),
                       [](const TrialUnits& a, const TrialUnits& b) { return a.cell < b.cell; });
    else
      mark_unusable(group);
    const std::string& workload = subjects[static_cast<size_t>(group.subject)].name;
    Result<Placements> placements = placements_of(group, plan, workload, functions, tool);
    if (placements) {
      out.of.push_back(*std::move(placements));
      continue;
    }
    // What is wrong with one program's work says nothing of another's; that there is no time, or another binary, does.
    if (placements.error().code != ErrorCode::kBadInput) return placements.error();
    out.refused.push_back({workload, placements.error().message});
  }
  if (out.of.empty()) return bad_input(reasons_of(out.refused));
  return out;
}

}  // namespace stab::engine
