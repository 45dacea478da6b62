// A plan, its programs and its builds may lie below /tmp, which people use for what is not to last. A trial sees these
// directories where they are, whole; what is named there and is no directory, a file or what a trial is to write for somebody
// else to read, can't be had beside an empty /tmp: then the machine's is used, and the record says why.
//
// A plan is searched as text, not understood: too much is kept rather than too little.
#include "stabd/engine/experiment/kept_names.h"

#include <fcntl.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <system_error>

#include "stabd/broker/wire/broker_wire.h"
#include "stabd/host/private_tmp.h"

namespace stab::engine {
namespace {

constexpr std::string_view kTmp = "/tmp", kVarTmp = "/var/tmp";
constexpr std::string_view kEndsAName = "/\"' \t\r\n,;:|&<>()[]{}=";

// Part of a longer name: then "/tmp" is not where a path begins.
bool is_inside_a_name(char before) {
  return std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '-' || before == '~';
}

bool is_directory(const std::string& name) {
  const UniqueFd place(::open(kTmp.data(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return place && host::directory_below(place.get(), name).ok();
}

}  // namespace

std::vector<std::string> names_below(std::string_view text, std::string_view place) {
  std::vector<std::string> names;
  std::set<std::string> known;  // a plan may name a hundred thousand
  const std::string wanted = std::string(place) + "/";
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
    if (at > 0 && is_inside_a_name(text[at - 1])) continue;
    size_t begin = at + wanted.size();
    while (begin < text.size() && text[begin] == '/') ++begin;
    const std::string name(text.substr(begin, text.find_first_of(kEndsAName, begin) - begin));
    if (!name.empty() && known.insert(name).second) names.push_back(name);
  }
  return names;
}

KeptNames kept_names(const std::string& plan, const std::vector<std::string>& paths, std::vector<std::string> own) {
  KeptNames kept{std::move(own), {}};
  std::set<std::string> known(kept.names.begin(), kept.names.end());
  const auto keep = [&](std::string_view text, const char* whose) {
    if (!kept.why_shared.empty()) return;
    const std::vector<std::string> of_var_tmp = names_below(text, kVarTmp);
    if (!of_var_tmp.empty()) kept.why_shared = std::string(whose) + " '/var/tmp/" + of_var_tmp[0] + "'";
    for (const std::string& name : names_below(text, kTmp)) {
      if (!kept.why_shared.empty()) return;
      if (!known.insert(name).second) continue;
      if (!broker::is_entry_name(name) || name.size() >= broker::kNameRoom || !is_directory(name))
        kept.why_shared = std::string(whose) + " '/tmp/" + name + "', which is no directory there";
      else
        kept.names.push_back(name);
    }
  };
  keep(plan, "the plan names");
  for (const std::string& path : paths) {
    std::error_code failed;
    const auto resolved = std::filesystem::weakly_canonical(path, failed);
    keep(path, "the experiment needs");
    if (!failed) keep(resolved.string(), "the experiment needs");
  }
  if (kept.why_shared.empty() && kept.names.size() > broker::kMostKept)
    kept.why_shared = "the experiment needs " + std::to_string(kept.names.size()) + " directories of /tmp, and at most " +
                      std::to_string(broker::kMostKept) + " can be kept";
  return kept;
}

}  // namespace stab::engine
