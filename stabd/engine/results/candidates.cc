#include "stabd/engine/results/candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace stab::engine {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool is_wanted_module(const std::vector<std::string>& wanted, const std::string& path, const std::string& main) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    if (name == "MAIN") return path == main;
    return name.find('/') != std::string::npos ? path == name : last_part(path) == name;
  });
}

void PilotSamples::add(const CausalRecord& record, const std::string& main, const std::vector<std::string>& wanted_modules) {
  std::vector<int64_t> numbers;
  for (const SampledModule& module : record.modules) {
    if (module.path.empty() || module.path[0] != '/' || !is_wanted_module(wanted_modules, module.path, main)) {
      numbers.push_back(-1);
      continue;
    }
    const auto at = std::find_if(modules_.begin(), modules_.end(),
                                 [&](const lines::Module& one) { return one.path == module.path; });
    numbers.push_back(at - modules_.begin());
    if (at == modules_.end() && modules_.size() < lines::kMostModules) modules_.push_back({module.path, module.build_id});
  }
  std::map<std::pair<uint32_t, uint64_t>, size_t> known;
  for (size_t i = 0; i < places_.size(); ++i) known[{places_[i].module, places_[i].address}] = i;
  for (const SampledPlace& place : record.histogram) {
    all_ += place.samples;
    const int64_t number = place.module < numbers.size() ? numbers[place.module] : -1;
    if (number < 0 || static_cast<size_t>(number) >= modules_.size()) {
      const std::string name = place.module < record.modules.size() ?
          last_part(record.modules[place.module].path) : std::string();
      const auto at = std::find_if(others_.begin(), others_.end(), [&](const auto& one) { return one.first == name; });
      if (at == others_.end()) others_.push_back({name, place.samples});
      else at->second += place.samples;
      continue;
    }
    in_modules_ += place.samples;
    const auto [at, is_new] = known.emplace(std::pair(static_cast<uint32_t>(number), place.address), places_.size());
    if (!is_new) {
      counts_[at->second] += place.samples;
    } else if (places_.size() < lines::kMostPlaces) {
      places_.push_back({static_cast<uint32_t>(number), place.address});
      counts_.push_back(place.samples);
    }
  }
}

std::string PilotSamples::elsewhere() const {
  std::vector<std::pair<std::string, uint64_t>> most = others_;
  std::sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < most.size() && i < 3; ++i)
    text += (i > 0 ? ", " : "") + (most[i].first.empty() ? "no file" : most[i].first) + " " +
            std::to_string(most[i].second * 100 / std::max<uint64_t>(all_, 1)) + " %";
  return text;
}

std::vector<store::RegionRow> regions_by_samples(const lines::Answer& answer, const std::vector<uint64_t>& counts, int candidates,
                                                 uint32_t most_others) {
  std::vector<uint64_t> of_region(answer.regions.size(), 0);
  for (size_t i = 0; i < answer.found.size() && i < counts.size(); ++i)
    if (answer.found[i] != lines::kNoRegion) of_region[answer.found[i]] += counts[i];
  std::vector<uint32_t> order(answer.regions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const lines::Region &left = answer.regions[a], &right = answer.regions[b];
    if (of_region[a] != of_region[b]) return of_region[a] > of_region[b];
    return std::tie(left.file, left.line, left.function) < std::tie(right.file, right.line, right.function);
  });
  std::vector<store::RegionRow> rows;
  for (const uint32_t region : order) {
    if (of_region[region] == 0 || rows.size() >= static_cast<size_t>(candidates) + most_others) break;
    store::RegionRow row;
    row.number = static_cast<uint32_t>(rows.size()) + 1;
    row.candidate = rows.size() < static_cast<size_t>(candidates);
    row.file = answer.regions[region].file;
    row.line = answer.regions[region].line;
    row.function = answer.regions[region].function;
    row.pilot_samples = static_cast<int64_t>(of_region[region]);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<store::RegionRow> regions_of_plan(const plan::Causal& causal) {
  std::vector<store::RegionRow> rows;
  for (const std::string& text : causal.lines) {
    store::RegionRow row;
    row.number = static_cast<uint32_t>(rows.size()) + 1;
    const size_t colon = text.rfind(':');
    if (causal.unit == plan::Causal::Unit::kFunction) {
      row.function = text;
    } else {
      row.file = text.substr(0, colon);
      row.line = static_cast<uint32_t>(std::stoul(text.substr(colon + 1)));  // the parser has seen that it is one
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

lines::Region as_wanted(const store::RegionRow& region, plan::Causal::Unit unit) {
  if (unit == plan::Causal::Unit::kFunction) return {region.file, 0, region.function};
  return {region.file, region.line, {}};
}

std::string words_of(const store::RegionRow& region) {
  if (region.line > 0) return region.file + ":" + std::to_string(region.line);
  return region.file.empty() ? region.function : region.function + " (" + region.file + ")";
}

Result<std::vector<causal::Range>> ranges_of(const lines::Answer& answer, const std::vector<uint32_t>& numbers) {
  std::vector<causal::Range> of_regions;
  for (size_t i = 0; i < answer.ranges.size(); ++i)
    for (const lines::Range& range : answer.ranges[i].ranges)
      of_regions.push_back({range.begin, range.end, range.module, numbers[i]});
  const auto order = [](const causal::Range& a, const causal::Range& b) {
    return std::tie(a.module, a.start) < std::tie(b.module, b.start);
  };
  std::sort(of_regions.begin(), of_regions.end(), order);
  for (size_t i = 1; i < of_regions.size(); ++i)
    if (of_regions[i].module == of_regions[i - 1].module && of_regions[i].start < of_regions[i - 1].end)
      return bad_input("candidates " + std::to_string(of_regions[i - 1].region) + " and " + std::to_string(of_regions[i].region) +
                       " of the plan are the same code; name each line once");
  std::vector<causal::Range> all = of_regions;
  size_t next = 0;
  for (const lines::Range& scope : answer.scope.ranges) {
    uint64_t at = scope.begin;
    while (next < of_regions.size() && (of_regions[next].module < scope.module ||
                                        (of_regions[next].module == scope.module && of_regions[next].end <= at)))
      ++next;
    for (size_t i = next; i < of_regions.size() && of_regions[i].module == scope.module && of_regions[i].start < scope.end; ++i) {
      if (of_regions[i].start > at) all.push_back({at, of_regions[i].start, scope.module, causal::kNoRegion});
      at = std::max(at, of_regions[i].end);
    }
    if (at < scope.end) all.push_back({at, scope.end, scope.module, causal::kNoRegion});
  }
  std::sort(all.begin(), all.end(), order);
  return all;
}

}  // namespace stab::engine
