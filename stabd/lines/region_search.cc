// Places first: each one's frames, and the regions that they belong to. Then ranges: the stretches of all units that may have
// code of a wanted region, each held against the wanted ones by the same rule.
#include "stabd/lines/region_search.h"

#include <algorithm>
#include <map>
#include <memory>

#include "stabd/lines/attribution.h"
#include "stabd/lines/line_table.h"
#include "stabd/lines/wire/source_pattern.h"

namespace stab::lines {
namespace {

void put_in_order(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return std::tie(a.module, a.begin) < std::tie(b.module, b.begin); });
  std::vector<Range> joined;
  for (const Range& range : ranges) {
    if (!joined.empty() && joined.back().module == range.module && joined.back().end >= range.begin)
      joined.back().end = std::max(joined.back().end, range.end);
    else
      joined.push_back(range);
  }
  ranges = std::move(joined);
}

class Search {
 public:
  Search(const Request& request, const std::string& debug_folder)
      : request_(request),
        unit_(static_cast<Unit>(request.unit)),
        attribution_(static_cast<Attribution>(request.attribution)),
        scope_(request.scope, names_) {
    for (const Module& module : request.modules) {
      ModuleRead read;
      tables_.push_back(LineTable::open(module, debug_folder, names_, read));
      answer_.modules.push_back(std::move(read));
    }
  }

  Answer take() {
    for (const Place& place : request_.places) answer_.found.push_back(find(place));
    answer_.ranges.resize(request_.wanted.size());
    if (!request_.wanted.empty() || request_.whole_scope)
      for (uint32_t module = 0; module < tables_.size(); ++module)
        if (tables_[module]) search(module);
    for (Ranges& list : answer_.ranges) put_in_order(list.ranges);
    put_in_order(answer_.scope.ranges);
    size_t ranges = answer_.scope.ranges.size();
    for (const Ranges& list : answer_.ranges) ranges += list.ranges.size();
    Answer too_large;
    too_large.failure = "the code in scope has too many regions or pieces; name fewer sources in scope, or write unit = "
        "\"function\"";
    if (ranges > kMostRanges || answer_.regions.size() > kMostRegions) return too_large;
    return std::move(answer_);
  }

 private:
  uint32_t find(const Place& place) {
    if (!tables_[place.module]) return kNoRegion;
    const auto region = region_of(tables_[place.module]->frames_at(place.address), unit_, attribution_, scope_);
    return region ? number_of(region->key, region->function) : kNoRegion;
  }

  uint32_t number_of(const RegionKey& key, uint32_t function) {
    const auto [at, is_new] = numbers_.emplace(key, static_cast<uint32_t>(answer_.regions.size()));
    if (is_new) answer_.regions.push_back({names_[key.file], key.line, names_[function]});
    return at->second;
  }

  // Numbers of wanted regions that this one is.
  const std::vector<uint32_t>& wanted_of(const RegionKey& key) {
    const auto [at, is_new] = wanted_.try_emplace(key);
    if (!is_new) return at->second;
    for (uint32_t i = 0; i < request_.wanted.size(); ++i) {
      const Region& wanted = request_.wanted[i];
      const bool same = unit_ == Unit::kFunction ? wanted.function == names_[key.function] : wanted.line == key.line;
      if (same && (wanted.file.empty() || matches_source(wanted.file, names_[key.file]))) at->second.push_back(i);
    }
    return at->second;
  }

  void search(uint32_t module) {
    const auto is_wanted = [&](uint32_t file) {
      if (request_.whole_scope) return scope_.has(file);
      if (file == 0 || !scope_.has(file)) return false;
      return std::any_of(request_.wanted.begin(), request_.wanted.end(), [&](const Region& wanted) {
        return wanted.file.empty() || matches_source(wanted.file, names_[file]);
      });
    };
    tables_[module]->each_stretch(is_wanted, [&](uint64_t begin, uint64_t end) {
      const auto region = region_of(tables_[module]->frames_at(begin), unit_, attribution_, scope_);
      if (!region) return;
      if (request_.whole_scope) answer_.scope.ranges.push_back({module, begin, end});
      for (const uint32_t wanted : wanted_of(region->key)) answer_.ranges[wanted].ranges.push_back({module, begin, end});
    });
  }

  const Request& request_;
  const Unit unit_;
  const Attribution attribution_;
  Names names_;
  Scope scope_;
  std::vector<std::unique_ptr<LineTable>> tables_;
  std::map<RegionKey, uint32_t> numbers_;
  std::map<RegionKey, std::vector<uint32_t>> wanted_;
  Answer answer_;
};

}  // namespace

Answer answer(const Request& request, const std::string& debug_folder) { return Search(request, debug_folder).take(); }

}  // namespace stab::lines
