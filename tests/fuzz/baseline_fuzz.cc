// Whatever is in the file of a stored baseline: no crash; a refusal that names the line, or sessions that can be compared and
// written again.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/commands/time/stored_baseline.h"

namespace {

void demand(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stab::commands;
  const auto stored = read_baseline({reinterpret_cast<const char*>(data), size}, "base.jsonl");
  if (!stored) {
    demand(stored.error().message.starts_with("base.jsonl:"));
    return 0;
  }
  std::string again;
  for (const StoredTiming& one : *stored) {
    demand(std::isfinite(one.log_cpu_s) && one.runs > 0);
    again += baseline_line(one);
  }
  const auto reread = read_baseline(again, "again");
  demand(reread.ok() && reread->size() == stored->size());
  if (stored->empty()) return 0;
  const auto answer = against_baseline(*stored, stored->back(), 0.01);
  demand(answer ? !baseline_text(*answer, "base.jsonl", 100).empty() : !answer.error().message.empty());
  return 0;
}
