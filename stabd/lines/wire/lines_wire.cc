#include "stabd/lines/wire/lines_wire.h"

#include <algorithm>

namespace stab::lines {
namespace {

bool is_short(const std::string& text) { return text.size() <= kMostTextBytes; }

bool is_region(const Region& region) { return is_short(region.file) && is_short(region.function); }

bool is_in_order(const std::vector<Range>& ranges, size_t modules) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].module >= modules || ranges[i].begin >= ranges[i].end) return false;
    if (i == 0) continue;
    const Range& before = ranges[i - 1];
    if (before.module > ranges[i].module || (before.module == ranges[i].module && before.end >= ranges[i].begin)) return false;
  }
  return true;
}

}  // namespace

std::string encode(const Request& request) {
  FieldWriter writer;
  writer.all(request);
  return writer.take();
}

std::string encode(const Answer& answer) {
  FieldWriter writer;
  writer.all(answer);
  return writer.take();
}

Result<Request> decode_request(std::string_view bytes) {
  Request request;
  FieldReader reader(bytes);
  reader.all(request.version);
  if (reader.ok() && request.version != kVersion) return corrupt("a request of another version: a mixed installation");
  reader = FieldReader(bytes);
  reader.all(request);
  if (!reader.whole()) return corrupt("no request for lines");
  const auto all = [](const auto& items, const auto& is_right) { return std::all_of(items.begin(), items.end(), is_right); };
  const bool within =
      request.unit <= static_cast<uint32_t>(Unit::kFunction) &&
      request.attribution <= static_cast<uint32_t>(Attribution::kLeaf) && request.scope.size() <= kMostPatterns &&
      request.modules.size() <= kMostModules && request.places.size() <= kMostPlaces && request.wanted.size() <= kMostWanted &&
      all(request.scope, is_short) && all(request.wanted, is_region) &&
      all(request.modules, [](const Module& module) { return is_short(module.path) && is_short(module.build_id); }) &&
      all(request.places, [&](const Place& place) { return place.module < request.modules.size(); });
  if (!within) return corrupt("a request for lines beyond its bounds");
  return request;
}

Result<Answer> decode_answer(std::string_view bytes, const Request& request) {
  Answer answer;
  FieldReader reader(bytes);
  reader.all(answer);
  if (!reader.whole() || answer.version != kVersion || !is_short(answer.failure)) return corrupt("no answer of stab-lines");
  if (!answer.failure.empty()) return Error{ErrorCode::kBadInput, answer.failure, {}};
  if (answer.modules.size() != request.modules.size() || answer.found.size() != request.places.size() ||
      answer.ranges.size() != request.wanted.size() || answer.regions.size() > kMostRegions)
    return corrupt("an answer of stab-lines to something else");
  size_t ranges = answer.scope.ranges.size();
  bool right = is_in_order(answer.scope.ranges, request.modules.size());
  for (const ModuleRead& module : answer.modules)
    right = right && module.reading <= static_cast<uint32_t>(Reading::kOtherBuild) && is_short(module.why) &&
            is_short(module.build_id) && is_short(module.debug_file) &&
            module.why.empty() == (module.reading == static_cast<uint32_t>(Reading::kLines));
  for (const Region& region : answer.regions) right = right && is_region(region);
  for (const uint32_t region : answer.found) right = right && (region == kNoRegion || region < answer.regions.size());
  for (const Ranges& list : answer.ranges) {
    right = right && is_in_order(list.ranges, request.modules.size());
    ranges += list.ranges.size();
  }
  if (!right || ranges > kMostRanges) return corrupt("an answer of stab-lines that contradicts itself");
  return answer;
}

}  // namespace stab::lines
