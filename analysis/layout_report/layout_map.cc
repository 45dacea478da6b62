// What a place is, which ones are tried, and what comes of them. The numbers are of analysis/statistics/places/placements.h.
#include "analysis/layout_report/layout_map.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/report/contrasts/judged_contrast.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"

namespace stab::layout_report {
namespace {

constexpr uint32_t kPageBytes = 4096, kLineBytes = 64;
constexpr uint32_t kLeastOfLevel = 30;   // moments: sums of fewer are not normal where tails are heavy
constexpr double kPower = 0.8;
constexpr int kShareRounds = 1000;
constexpr uint64_t kShareSeed = 0x6d6170;
// Counts of fewer than this a unit are whole numbers whose steps are noise of 5 % and more.
constexpr double kFewVisits = 20;
// Of independent moments -2/3. Simulated bounds of 200 moments: 0.1 to either side.
constexpr double kLagHigh = -0.5, kLagLow = -0.8;
constexpr double kMostlyOld = 0.5;
// Share of the samples from which on code that a map leaves out is worth a word.
constexpr double kInLibrariesMatters = 0.05;

constexpr std::pair<PlaceKind, std::string_view> kKinds[] = {
    {PlaceKind::kLine, "start mod 64"}, {PlaceKind::kHalf, "start mod 32"},           {PlaceKind::kPage, "crosses a page"},
    {PlaceKind::kPad, "pad mod 64"},    {PlaceKind::kOffset, "same offset in 4 KiB"}, {PlaceKind::kSets, "same sets"}};

int levels_of(PlaceKind kind) { return kind == PlaceKind::kLine || kind == PlaceKind::kPad ? 4 : 2; }

// Bytes from `a` up to `b` where pages follow each other in a circle.
uint32_t ahead(uint32_t a, uint32_t b) { return (b - a) % kPageBytes; }

uint8_t level_of_two(PlaceKind kind, uint32_t a, uint32_t a_bytes, uint32_t b, uint32_t b_bytes) {
  if (kind == PlaceKind::kOffset) return ahead(a, b) < kLineBytes || ahead(b, a) < kLineBytes ? 1 : 0;
  const auto lines = [](uint32_t at, uint32_t bytes) { return at % kLineBytes + std::max(bytes, 1u); };
  const uint32_t from_a = a - a % kLineBytes, from_b = b - b % kLineBytes;
  return ahead(from_a, from_b) < lines(a, a_bytes) || ahead(from_b, from_a) < lines(b, b_bytes) ? 1 : 0;
}

uint8_t level_of_one(PlaceKind kind, uint16_t offset, uint16_t pad, uint32_t bytes) {
  if (kind == PlaceKind::kPad) return pad == kNowhere ? statistics::kNoLevel : static_cast<uint8_t>(pad / kGrain % 4);
  if (offset == kNowhere) return statistics::kNoLevel;
  if (kind == PlaceKind::kLine) return static_cast<uint8_t>(offset / kGrain % 4);
  if (kind == PlaceKind::kHalf) return static_cast<uint8_t>(offset / kGrain % 2);
  return offset + bytes > kPageBytes ? 1 : 0;
}

// The level of a place at every moment.
std::vector<uint8_t> levels_at(const PlacementData& data, PlaceKind kind, size_t f, size_t other) {
  std::vector<uint8_t> out(data.moments());
  const size_t n = data.functions.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const uint16_t a = data.offset[i * n + f];
    if (!is_of_two(kind)) {
      out[i] = level_of_one(kind, a, data.pad[i * n + f], data.functions[f].bytes);
      continue;
    }
    const uint16_t b = data.offset[i * n + other];
    out[i] = a == kNowhere || b == kNowhere
                 ? statistics::kNoLevel
                 : level_of_two(kind, a, data.functions[f].bytes, b, data.functions[other].bytes);
  }
  return out;
}

double as_ratio(double logarithm) { return std::expm1(logarithm); }

// Functions that an edit may name twice, such as two static ones, are told by their addresses. A library name has its file in it.
std::optional<size_t> find(const PlacementData& data, const std::string& name, uint64_t linked) {
  std::optional<size_t> found;
  for (size_t f = 0; f < data.functions.size(); ++f) {
    if (data.functions[f].name != name) continue;
    if (data.functions[f].linked == linked) return f;
    if (!found) found = f;
  }
  return found;
}

struct Tried {
  PlaceKind kind;
  size_t f, other;
  statistics::PlacementTest test;
};

// The hottest first; as they are linked where nothing is known of heat.
std::vector<size_t> by_heat(const PlacementData& data) {
  std::vector<size_t> order(data.functions.size());
  for (size_t f = 0; f < order.size(); ++f) order[f] = f;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return data.functions[a].samples.value_or(0) > data.functions[b].samples.value_or(0);
  });
  return order;
}

std::vector<Tried> try_places(const PlacementData& data, const statistics::PlacementScreen& screen) {
  std::vector<Tried> out;
  const auto attempt = [&](PlaceKind kind, size_t f, size_t other) {
    const std::optional<statistics::PlacementTest> test =
        screen.test(levels_at(data, kind, f, other), levels_of(kind), kLeastOfLevel);
    if (test) out.push_back({kind, f, other, *test});
  };
  for (size_t f = 0; f < data.functions.size(); ++f)
    for (const auto& [kind, word] : kKinds)
      if (!is_of_two(kind)) attempt(kind, f, 0);
  const std::vector<size_t> hot = by_heat(data);
  const bool known =
      std::any_of(data.functions.begin(), data.functions.end(), [](const auto& f) { return f.samples.has_value(); });
  if (!known && hot.size() > kMostPaired) return out;
  for (size_t i = 0; i < std::min(hot.size(), kMostPaired); ++i)
    for (size_t k = i + 1; k < std::min(hot.size(), kMostPaired); ++k)
      for (const PlaceKind kind : {PlaceKind::kOffset, PlaceKind::kSets}) attempt(kind, hot[i], hot[k]);
  return out;
}

// Which places say the same thing twice.
std::string family(const Tried& tried) {
  const std::string f = std::to_string(tried.f), other = std::to_string(tried.other);
  if (is_of_two(tried.kind)) return f + " " + other;
  if (tried.kind == PlaceKind::kLine || tried.kind == PlaceKind::kHalf) return f + " start";
  return f + " " + std::string(name(tried.kind));
}

Candidate make_candidate(const PlacementData& data, const statistics::Differences& differences, const Tried& tried,
                         double q_value) {
  Candidate out;
  const PlacementData::Function& function = data.functions[tried.f];
  out.place = {tried.kind, function.name, "", function.linked, 0, function.library, ""};
  if (is_of_two(tried.kind)) {
    out.place.other = data.functions[tried.other].name;
    out.place.other_linked = data.functions[tried.other].linked;
    out.place.other_library = data.functions[tried.other].library;
  }
  out.test = tried.test;
  out.q_value = q_value;
  const std::vector<uint8_t> levels = levels_at(data, tried.kind, tried.f, tried.other);
  const statistics::Placed placed{levels, levels_of(tried.kind)};
  const Result<statistics::PlacementFit> fit = statistics::PlacementFit::make(differences, {&placed, 1});
  if (!fit) return out;
  out.effects = fit->effects()[0];
  std::vector<int> there;
  for (int level = 0; level < placed.levels; ++level)
    if (out.effects.moments[static_cast<size_t>(level)] >= kLeastOfLevel) there.push_back(level);
  const auto less = [&](int a, int b) {
    return out.effects.effect[static_cast<size_t>(a)] < out.effects.effect[static_cast<size_t>(b)];
  };
  if (there.size() < 2) return out;
  out.fastest = *std::min_element(there.begin(), there.end(), less);
  out.slowest = *std::max_element(there.begin(), there.end(), less);
  out.difference = out.effects.effect[static_cast<size_t>(out.slowest)] - out.effects.effect[static_cast<size_t>(out.fastest)];
  return out;
}

void find_candidates(const PlacementData& data, const statistics::Differences& differences, const std::vector<Tried>& tried,
                     Screen& screen) {
  std::vector<double> p_values;
  for (const Tried& one : tried) p_values.push_back(one.test.p_value);
  const std::vector<double> q_values = statistics::benjamini_hochberg(p_values);
  std::vector<size_t> order(tried.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Of equal ones, such as p-values of 0, the larger statistic for its degrees of freedom.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (p_values[a] != p_values[b]) return p_values[a] < p_values[b];
    return tried[a].test.chi_squared / tried[a].test.df > tried[b].test.chi_squared / tried[b].test.df;
  });
  std::set<std::string> said;
  for (const size_t i : order) {
    if (q_values[i] > kDiscoveryRate) break;
    if (said.insert(family(tried[i])).second)
      screen.candidates.push_back(make_candidate(data, differences, tried[i], q_values[i]));
  }
}

// --- caveats, each a check that appends at most one ------------------------------------------------------------------

using Caveats = std::vector<MapCaveat>;

void few_units(const LayoutMap& map, const MapSettings& settings, Caveats& out) {
  if (as_ratio(map.screen.finds) <= settings.margin) return;
  // What is found shrinks with the root of the number.
  const double times = map.screen.finds / std::log1p(settings.margin);
  out.push_back({"few-" + map.unit + "s",
                 std::to_string(map.moments) + " " + map.unit + "s at a noise of " + text::percent(map.screen.noise) +
                     " find a difference of " + text::percent(as_ratio(map.screen.finds)) +
                     " in 8 of 10 screens, and the plan's margin is " + text::percent(settings.margin),
                 "about " + text::significant(times * times * static_cast<double>(map.moments), 2) + " " + map.unit +
                     "s would find the margin: more replicates, or a longer run"});
}

void phases(const LayoutMap& map, Caveats& out) {
  if (!map.screen.lag_one || (*map.screen.lag_one <= kLagHigh && *map.screen.lag_one >= kLagLow)) return;
  const bool drifts = *map.screen.lag_one > kLagHigh;
  out.push_back(
      {"phases",
       "neighbouring " + map.unit + "s are no replicates of each other: their differences correlate by " +
           text::significant(*map.screen.lag_one, 2) + " where -0.67 is expected, so what the program does " +
           (drifts ? "changes within a few " : "alternates with the ") + map.unit + "s",
       drifts ? "tests stay valid, as places were drawn at random, but find less; count work that is the same in all phases"
              : "use another epoch, such as a third longer, so that it doesn't keep step with the program"});
}

void coarse_counts(const LayoutMap& map, double work_per_unit, Caveats& out) {
  if (map.work.empty() || work_per_unit >= kFewVisits) return;
  out.push_back({"coarse-counts",
                 "the median " + map.unit + " has " + text::significant(work_per_unit, 3) + " " + map.work +
                     ", and what is left of a visit at its ends is noise",
                 "put the progress point where it is passed more often, or make epochs longer"});
}

void no_samples(const LayoutMap& map, Caveats& out) {
  const bool known = std::any_of(map.functions.begin(), map.functions.end(), [](const auto& f) { return f.samples.has_value(); });
  if (known) return;
  std::string what = "no samples say which functions are hot, so all that move were looked at";
  if (map.functions.size() < map.program_functions)
    what = "no samples say which functions are hot, and of " + std::to_string(map.program_functions) + " that move " +
           std::to_string(map.functions.size()) + " were looked at, the largest";
  if (map.functions.size() > kMostPaired) what += "; pairs of functions were not";
  out.push_back({"no-samples", what, "name the functions that matter: only = [\"lua%\"] under [layout]"});
}

void in_libraries(const LayoutMap& map, Caveats& out) {
  double all = 0;
  for (const PlacementData::InLibrary& one : map.in_libraries) all += one.samples;
  if (all < kInLibrariesMatters) return;
  std::string names;
  for (size_t i = 0; i < std::min<size_t>(map.in_libraries.size(), 5); ++i)
    names += (i ? ", " : "") + map.in_libraries[i].name + " " + text::significant(100 * map.in_libraries[i].samples, 2) + " %";
  if (map.in_libraries.size() > 5) names += " and " + std::to_string(map.in_libraries.size() - 5) + " more";
  out.push_back({"in-libraries",
                 text::significant(100 * all, 2) +
                     " % of the time was spent in shared libraries, in functions that the map doesn't look at: " + names,
                 "build those libraries with szc: the map has functions that move, of libraries whose files are still there"});
}

void left_out_libraries(const LayoutMap& map, Caveats& out) {
  if (map.libraries_left_out.empty()) return;
  const size_t count = map.libraries_left_out.size(), shown = std::min<size_t>(count, 3);
  std::string each;
  for (size_t i = 0; i < shown; ++i)
    each += (i ? "; " : "") + map.libraries_left_out[i].name + ": " + map.libraries_left_out[i].why;
  if (count > shown) each += "; and " + std::to_string(count - shown) + " more";
  const std::string which =
      count == 1 ? "a shared library that moved: " : std::to_string(count) + " shared libraries that moved: ";
  out.push_back({"libraries-left-out", "the map looks at no function of " + which + each,
                 "leave libraries' files where the program found them until the map is made; --json has all of them"});
}

void between_runs(const LayoutMap& map, Caveats& out) {
  if (map.screen.between_runs.empty()) return;
  std::string names;
  for (size_t i = 0; i < std::min<size_t>(map.screen.between_runs.size(), 5); ++i)
    names += (i ? ", " : "") + map.screen.between_runs[i];
  if (map.screen.between_runs.size() > 5) names += " and " + std::to_string(map.screen.between_runs.size() - 5) + " more";
  out.push_back({"between-runs",
                 "most of the time in " + names +
                     " was spent in layouts before the newest: a loop that is never left stays where it "
                     "was, so their places vary between runs more than between epochs, and the map sees little of them",
                 "map them by runs: code = [\"once\"] and 200 replicates or more"});
}

void unconfirmed(const LayoutMap& map, Caveats& out) {
  if (map.confirmation || map.screen.candidates.empty()) return;
  out.push_back({"unconfirmed",
                 "candidates are the strongest of " + std::to_string(map.screen.tests) +
                     " tests: one in ten of them may be chance, and their sizes are too large",
                 "map = true under [layout] measures them again in fresh trials"});
}

}  // namespace

bool is_of_two(PlaceKind kind) { return kind == PlaceKind::kOffset || kind == PlaceKind::kSets; }

std::string_view name(PlaceKind kind) {
  for (const auto& [known, word] : kKinds)
    if (known == kind) return word;
  return "";
}

std::optional<PlaceKind> place_kind(std::string_view name) {
  for (const auto& [kind, word] : kKinds)
    if (word == name) return kind;
  return std::nullopt;
}

int place_level(PlaceKind kind, uint32_t offset, uint32_t bytes) {
  return level_of_one(kind, static_cast<uint16_t>(offset), kNowhere, bytes);
}

int place_level(PlaceKind kind, uint32_t offset, uint32_t bytes, uint32_t other_offset, uint32_t other_bytes) {
  return level_of_two(kind, offset, bytes, other_offset, other_bytes);
}

std::string Place::text() const {
  return function + (other.empty() ? "" : " and " + other) + ": " + std::string(name(kind));
}

std::string level_text(const Place& place, int level) {
  const auto grain = static_cast<uint64_t>(level) * kGrain;
  switch (place.kind) {
    case PlaceKind::kLine:
    case PlaceKind::kHalf:
      return std::to_string(grain + place.linked % kGrain);
    case PlaceKind::kPad:
      return std::to_string(grain);
    case PlaceKind::kPage:
      return level == 1 ? "crosses" : "within";
    case PlaceKind::kOffset:
    case PlaceKind::kSets:
      break;
  }
  return level == 1 ? "together" : "apart";
}

size_t PlacementData::trials() const { return std::set<uint32_t>(series.begin(), series.end()).size(); }

Result<LayoutMap> screen_layouts(const PlacementData& data, const MapSettings& settings) {
  const std::string units = data.unit + "s";
  if (data.moments() < kLeastMoments)
    return bad_input("experiment '" + data.experiment + "' has " + std::to_string(data.moments()) + " " + units + " of " +
                     data.workload + " that can be compared, and a map needs " + std::to_string(kLeastMoments) +
                     ": run longer, or more replicates");
  const statistics::Differences differences(data.signal, data.series, data.stratum);
  if (differences.rows().size() < kLeastMoments / 2)
    return bad_input("of " + std::to_string(data.moments()) + " " + units + " only " + std::to_string(differences.rows().size()) +
                     " stand between two others: use shorter epochs, or longer trials");
  if (!(differences.scale() > 0))
    return bad_input("CPU time by " + (data.work.empty() ? std::string("trial") : data.work) +
                     " is the same in most " + units + ": its clock is too coarse for them, or nothing was measured");
  LayoutMap map;
  map.experiment = data.experiment;
  map.workload = data.workload;
  map.unit = data.unit;
  map.work = data.work;
  map.unit_ms = data.unit_ms;
  map.moments = data.moments();
  map.trials = data.unit == "trial" ? data.moments() : data.trials();
  map.left_out = data.left_out;
  map.functions = data.functions;
  map.program_functions = data.program_functions;
  map.in_libraries = data.in_libraries;
  map.libraries_left_out = data.libraries_left_out;

  const statistics::PlacementScreen screen(differences);
  const std::vector<Tried> tried = try_places(data, screen);
  map.screen.tests = tried.size();
  map.screen.differences = differences.rows().size();
  map.screen.noise = differences.scale() / std::sqrt(statistics::kDifferenceVariance);
  map.screen.lag_one = differences.lag_one();
  if (!tried.empty()) {
    const double strict = kDiscoveryRate / static_cast<double>(tried.size());
    map.screen.finds =
        screen.error_of_halves() * (statistics::normal_quantile(1 - strict / 2) + statistics::normal_quantile(kPower));
    find_candidates(data, differences, tried, map.screen);
  }
  for (const size_t f : by_heat(data)) {
    const PlacementData::Function& function = data.functions[f];
    if (function.samples.value_or(0) >= kHotShare && function.older.value_or(0) > kMostlyOld)
      map.screen.between_runs.push_back(function.name);
  }
  few_units(map, settings, map.caveats);
  phases(map, map.caveats);
  coarse_counts(map, data.work_per_unit, map.caveats);
  no_samples(map, map.caveats);
  in_libraries(map, map.caveats);
  left_out_libraries(map, map.caveats);
  between_runs(map, map.caveats);
  unconfirmed(map, map.caveats);
  return map;
}

namespace {

// The places that the fresh data can tell apart, in one model.
struct FreshModel {
  std::vector<size_t> which;                 // of the candidates
  std::vector<std::vector<uint8_t>> levels;  // by candidate
  std::optional<statistics::PlacementFit> fit;
};

Result<FreshModel> fit_fresh(const PlacementData& fresh, const statistics::Differences& differences,
                             const std::vector<Candidate>& candidates, std::vector<Confirmed>& places) {
  FreshModel model;
  model.levels.resize(candidates.size());
  for (size_t c = 0; c < candidates.size(); ++c) {
    const Place& place = candidates[c].place;
    const std::optional<size_t> f = find(fresh, place.function, place.linked);
    const std::optional<size_t> other =
        is_of_two(place.kind) ? find(fresh, place.other, place.other_linked) : std::optional<size_t>(0);
    if (!f || !other) {
      places[c].refused = "the fresh trials' program has no such function";
      continue;
    }
    model.levels[c] = levels_at(fresh, place.kind, *f, *other);
    const auto has = [&](int level) {
      return static_cast<uint32_t>(std::count(model.levels[c].begin(), model.levels[c].end(), static_cast<uint8_t>(level)));
    };
    const uint32_t least = std::min(has(candidates[c].slowest), has(candidates[c].fastest));
    if (least < kLeastOfLevel) {
      places[c].refused = "a level came in " + std::to_string(least) + " " + fresh.unit + "s only";
      continue;
    }
    // The strongest are told first; one that always comes with them has nothing of its own to say.
    std::vector<size_t> tried = model.which;
    tried.push_back(c);
    std::vector<statistics::Placed> placed;
    for (const size_t k : tried) placed.push_back({model.levels[k], levels_of(candidates[k].place.kind)});
    Result<statistics::PlacementFit> fit = statistics::PlacementFit::make(differences, placed);
    if (!fit) {
      places[c].refused = fit.error().message;
      continue;
    }
    model.which = std::move(tried);
    model.fit = *std::move(fit);
  }
  return model;
}

void judge(const statistics::PlacementFit& fit, size_t which, const MapSettings& settings, Confirmed& place,
           double& p_equivalence) {
  const std::optional<statistics::PlacementFit::Contrast> contrast = fit.contrast(which, place.slowest, place.fastest);
  if (!contrast || !(contrast->standard_error > 0)) {
    place.refused = "its levels came too rarely";
    return;
  }
  const double half = statistics::t_quantile_upper(settings.alpha / 2, fit.df()) * contrast->standard_error;
  const double margin = std::log1p(settings.margin);
  place.difference = {std::exp(contrast->estimate), std::exp(contrast->estimate - half), std::exp(contrast->estimate + half)};
  place.p_value = statistics::t_two_sided(contrast->estimate / contrast->standard_error, fit.df());
  p_equivalence = std::max(statistics::t_upper((margin - contrast->estimate) / contrast->standard_error, fit.df()),
                           statistics::t_upper((contrast->estimate + margin) / contrast->standard_error, fit.df()));
  place.effects = fit.effects()[which];
  place.sd = std::sqrt(place.effects.variance);
}

}  // namespace

Result<Confirmation> confirm_places(const PlacementData& fresh, const std::vector<Candidate>& candidates,
                                    const MapSettings& settings) {
  if (fresh.moments() < kLeastMoments)
    return bad_input("the fresh trials have " + std::to_string(fresh.moments()) + " " + fresh.unit +
                     "s that can be compared, and a confirmation needs " + std::to_string(kLeastMoments));
  const statistics::Differences differences(fresh.signal, fresh.series, fresh.stratum);
  Confirmation out;
  out.experiment = fresh.experiment;
  out.moments = fresh.moments();
  out.trials = fresh.unit == "trial" ? fresh.moments() : fresh.trials();
  out.noise = differences.scale() / std::sqrt(statistics::kDifferenceVariance);
  out.alpha = settings.alpha;
  out.margin = settings.margin;
  for (const Candidate& candidate : candidates) {
    Confirmed place;
    place.place = candidate.place;
    place.slowest = candidate.slowest;
    place.fastest = candidate.fastest;
    place.forced = fresh.forced && (candidate.place.kind == PlaceKind::kLine || candidate.place.kind == PlaceKind::kHalf);
    out.places.push_back(std::move(place));
  }
  STAB_TRY(const FreshModel model, fit_fresh(fresh, differences, candidates, out.places));
  if (!model.fit) return out;
  const std::vector<statistics::PlacementFit::Share> shares = model.fit->shares(1 - settings.alpha, kShareSeed, kShareRounds);
  std::vector<double> changes(out.places.size(), 1), equivalences(out.places.size(), 1);
  for (size_t k = 0; k < model.which.size(); ++k) {
    Confirmed& place = out.places[model.which[k]];
    judge(*model.fit, k, settings, place, equivalences[model.which[k]]);
    place.share = shares[k];
    changes[model.which[k]] = place.p_value;
  }
  // What could not be measured stays in the family: it was asked.
  const std::vector<double> change_holm = statistics::holm(changes), equivalence_holm = statistics::holm(equivalences);
  for (size_t c = 0; c < out.places.size(); ++c) {
    Confirmed& place = out.places[c];
    place.p_holm = change_holm[c];
    place.p_equivalence_holm = equivalence_holm[c];
    if (place.refused.empty())
      place.verdict =
          report::verdict_of(std::log(place.difference.low), std::log(place.difference.high), std::log1p(settings.margin),
                             place.p_equivalence_holm <= settings.alpha, place.p_holm <= settings.alpha);
  }
  out.all = shares.back();
  out.all_sd = std::sqrt(model.fit->explained());
  std::stable_sort(out.places.begin(), out.places.end(), [](const Confirmed& a, const Confirmed& b) {
    const auto rank = [](const Confirmed& place) { return place.verdict == report::Verdict::kChanged ? 0 : 1; };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.effects.variance > b.effects.variance;
  });
  return out;
}

void add_confirmation(LayoutMap& map, Confirmation confirmation) {
  std::erase_if(map.caveats, [](const MapCaveat& caveat) { return caveat.code == "unconfirmed"; });
  const size_t asked = confirmation.places.size();
  if (asked < map.screen.candidates.size())
    map.caveats.push_back({"not-all-confirmed",
                           "the strongest " + std::to_string(asked) + " of " + std::to_string(map.screen.candidates.size()) +
                               " candidates were measured again",
                           "confirm = " + std::to_string(std::min<size_t>(map.screen.candidates.size(), 32)) +
                               " under [layout] measures more"});
  map.confirmation = std::move(confirmation);
}

}  // namespace stab::layout_report
