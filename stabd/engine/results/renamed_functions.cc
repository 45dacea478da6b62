#include "stabd/engine/results/renamed_functions.h"

#include <algorithm>
#include <set>

namespace stab::engine {
namespace {

// Of what `of` has and `other` lacks: contents that one function alone has, and whose they are.
std::map<uint32_t, uint64_t> alone_in(const Needs& of, const Needs& other) {
  std::map<uint32_t, uint64_t> found;
  std::set<uint32_t> again;
  for (size_t i = 0; i < of.rows.size(); ++i)
    if (!other.has(of.rows[i].identity) && !found.try_emplace(of.contents[i], of.rows[i].identity).second)
      again.insert(of.contents[i]);
  for (const uint32_t content : again) found.erase(content);
  return found;
}

}  // namespace

bool Needs::has(uint64_t identity) const {
  const auto is_before = [](const code::MatchRow& row, uint64_t one) { return row.identity < one; };
  const auto at = std::lower_bound(rows.begin(), rows.end(), identity, is_before);
  return at != rows.end() && at->identity == identity;
}

FirstNames find_renamed(const std::vector<Needs>& builds) {
  FirstNames first_name;
  std::map<uint64_t, std::vector<uint64_t>> names;  // by the first one: all of one function
  for (size_t k = 1; k < builds.size(); ++k) {
    const std::map<uint32_t, uint64_t> before = alone_in(builds[0], builds[k]);
    for (const auto& [content, identity] : alone_in(builds[k], builds[0])) {
      const auto found = before.find(content);
      if (found == before.end() || first_name.count(identity) != 0) continue;
      std::vector<uint64_t> all = names[found->second];
      all.insert(all.end(), {found->second, identity});
      const bool is_one = std::none_of(builds.begin(), builds.end(), [&all](const Needs& build) {
        return std::count_if(all.begin(), all.end(), [&build](uint64_t name) { return build.has(name); }) > 1;
      });
      if (!is_one) continue;
      first_name[identity] = found->second;
      names[found->second].push_back(identity);
    }
  }
  return first_name;
}

}  // namespace stab::engine
