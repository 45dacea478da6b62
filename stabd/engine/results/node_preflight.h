// What the preflight of one machine gave, as its worker tells it: facts of the slot's epoch, stored and bundled beside those of
// the machine. Its trials stay in the worker's own store; they are no part of the schedule.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stabd/engine/trial/trial_news.h"


namespace stab::engine {

inline constexpr std::string_view kPreflightNote = "preflight", kPreflightFact = "preflight.";

struct NodePreflight {
  std::string subject, cell;
  bool passed = false;
  std::optional<int64_t> wall_ns;
  std::string failure;
};

// One more of them, as long as there are fewer than 2,000. A cell that ran again after it was lost has its last trial.
void add_preflight(std::map<std::string, std::string>& facts, const TrialNews& news);

// Of a note, whoever wrote it: those that can be read, and no more than that.
std::map<std::string, std::string> preflight_facts(const std::map<std::string, std::string>& facts);
std::vector<NodePreflight> preflight_of(const std::map<std::string, std::string>& facts);

}  // namespace stab::engine
