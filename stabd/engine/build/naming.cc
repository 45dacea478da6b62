// stabctl asks its own database, the daemon asks its own: both mean the same by a word. Whoever calls an experiment "7", or
// as somebody else's is called, must not come between others and theirs.
#include "stabd/engine/build/naming.h"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/wording.h"

namespace stab::engine {
namespace {

// Names of users are in files or in a directory of the network; a number needs neither.
std::optional<int64_t> user_of(const std::string& word) {
  if (const auto number = number_of(word)) return number;
  std::array<char, 16384> buffer;
  passwd entry{}, *found = nullptr;
  if (::getpwnam_r(word.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return entry.pw_uid;
}

Error no_such(std::string_view word) {
  return {ErrorCode::kNotFound, "there is no experiment '" + std::string(word) + "' of yours", {}};
}

// The same with the nearest of the asker's own, where there is one.
Error no_such(store::Store& store, std::string_view word, const Asker& asker) {
  Error error = no_such(word);
  const auto own = store.summaries(asker.uid);
  if (!own) return error;
  std::vector<std::string_view> names;
  for (const store::ExperimentSummary& row : *own) names.push_back(row.name);
  if (const std::string meant = did_you_mean(word, names); !meant.empty()) error.message += "; " + meant;
  return error;
}

bool may_see(const store::ExperimentSummary& row, const Asker& asker) { return asker.sees_all || row.submitter_uid == asker.uid; }

Result<store::ExperimentSummary> newest_of(store::Store& store, int64_t uid) {
  STAB_TRY(std::vector<store::ExperimentSummary> own, store.summaries(uid));
  if (own.empty()) return Error{ErrorCode::kNotFound, "no experiment of yours yet", {}};
  return std::move(own.back());
}

}  // namespace

std::optional<store::Id> number_of(std::string_view word) {
  store::Id id = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  const bool digits = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || error != std::errc() || stop != word.data() + word.size()) return {};
  return id;
}

Result<store::ExperimentSummary> experiment_named(store::Store& store, std::string_view word, const Asker& asker) {
  if (word.empty()) return newest_of(store, asker.uid);
  if (word.find_first_not_of("0123456789") == std::string_view::npos) {
    const auto id = number_of(word);
    const auto row = id ? store.summary(*id) : Result<store::ExperimentSummary>(no_such(word));
    if (row && may_see(*row, asker)) return row;
    if (!row && row.error().code != ErrorCode::kNotFound) return row.error();
    return Error{ErrorCode::kNotFound, "no experiment '" + std::string(word) + "'", {}};
  }
  int64_t uid = asker.uid;
  std::string_view name = word;
  if (const size_t slash = word.find('/'); slash != std::string_view::npos) {
    const auto user = user_of(std::string(word.substr(0, slash)));
    if (!user || (*user != asker.uid && !asker.sees_all)) return no_such(word);
    uid = *user;
    name = word.substr(slash + 1);
    // An old one may have digits for a name; nothing but this finds it.
  }
  STAB_TRY(std::optional<store::ExperimentSummary> found, store.newest_named(name, uid));
  if (!found) return no_such(store, word, asker);
  return *std::move(found);
}

}  // namespace stab::engine
