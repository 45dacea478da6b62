#include "stabd/engine/machines/worker_files.h"

#include "stabd/engine/machines/worker_log.h"
#include "stabd/engine/results/node_preflight.h"

namespace stab::engine {

bool is_worker_note(std::string_view what) {
  return what == "facts" || what == kPreflightNote || what == kLogNote || what == "heartbeat" || what == "end";
}

std::string at_most(std::string text, size_t bytes) {
  if (text.size() > bytes) text.replace(bytes, std::string::npos, " ...");
  return text;
}

std::string why_no_facts(const std::map<std::string, std::string>& facts) {
  if (facts.size() > kMostFacts) return "it tells more than " + std::to_string(kMostFacts) + " facts";
  size_t bytes = 0;
  for (const auto& [name, value] : facts) {
    if (name.size() > kMostFactNameBytes) return "a fact's name has more than " + std::to_string(kMostFactNameBytes) + " bytes";
    if (value.size() > kMostFactValueBytes)
      return "its fact '" + name + "' has more than " + std::to_string(kMostFactValueBytes) + " bytes";
    bytes += name.size() + value.size();
  }
  return bytes > kMostFactsBytes ? "its facts have more than " + std::to_string(kMostFactsBytes) + " bytes" : std::string();
}

}  // namespace stab::engine
