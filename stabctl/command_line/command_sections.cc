// The headings of --help, by what a person wants to do; the order of commands is the table's.
#include "stabctl/command_line/command_sections.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace stab::ctl {
namespace {

struct Section {
  std::string_view heading;
  std::vector<std::string_view> words;
};

const std::vector<Section>& sections() {
  static const std::vector<Section> table = {
      {"Measure", {"init", "compare", "time", "plan", "run", "resume", "extend", "replay", "rerun", "gate", "bisect",
                   "explain", "causal", "layout"}},
      {"Read results", {"report", "verify", "verdict", "trend", "list", "logs", "output", "export"}},
      {"Keep results", {"bundle", "db", "delete"}},
      {"Lab daemon", {"submit", "status", "watch", "pause", "priority", "cancel", "web"}},
      {"Machine", {"doctor", "machine", "selftest"}},
      {"Other data", {"import", "stats", "analyze"}},
      {"Shell", {"completion"}},
      // What other commands start: a controller on each machine, a daemon for each submitter.
      {"", {"work", "deputy"}},
  };
  return table;
}

}  // namespace

std::string_view section_of(std::string_view word) {
  for (const Section& section : sections())
    if (std::find(section.words.begin(), section.words.end(), word) != section.words.end()) return section.heading;
  std::fprintf(stderr, "stabctl: '%s' has no section in command_sections.cc\n", std::string(word).c_str());
  std::abort();
}

}  // namespace stab::ctl
