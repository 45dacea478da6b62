// KeptNames: which directories of /tmp an experiment needs by their names, so that they stay where its trials have a /tmp of
// their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stab::engine {

// What follows `place` and a slash wherever the text names it, up to the next slash or whatever ends a path in a plan; each
// once, in order. "/home/me/tmp/x" does not name /tmp.
std::vector<std::string> names_below(std::string_view text, std::string_view place);

struct KeptNames {
  std::vector<std::string> names;  // directories of /tmp
  std::string why_shared;          // what is needed can't be kept; empty: it can
};
// `plan`: its text. `paths`: where the rest lies, each resolved as far as we may look. `own`: names that are kept in any case.
KeptNames kept_names(const std::string& plan, const std::vector<std::string>& paths, std::vector<std::string> own);

}  // namespace stab::engine
