// A fact is "preflight.SUBJECT/CELL", its value "passed" or "failed", the time in ns or nothing, subject, cell and what failed,
// with a tab between them.
#include "stabd/engine/results/node_preflight.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/printable.h"

namespace stab::engine {
namespace {

constexpr size_t kMost = 2000, kMostFailureBytes = 200;  // a note of them stays below what a connection takes, 1 MiB
// Of one machine's, which are in memory for each `status`, as all machines' are.
constexpr size_t kMostBytes = 128 << 10;

std::optional<NodePreflight> parse(std::string_view text) {
  std::vector<std::string> fields;
  while (fields.size() < 4) {
    const size_t tab = text.find('\t');
    if (tab == std::string_view::npos) return {};
    fields.emplace_back(text.substr(0, tab));
    text.remove_prefix(tab + 1);
  }
  if (fields[0] != "passed" && fields[0] != "failed") return {};
  NodePreflight one{fields[2], fields[3], fields[0] == "passed", {}, std::string(text)};
  int64_t wall = 0;
  const std::string& number = fields[1];
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), wall);
  if (!number.empty() && (error != std::errc() || end != number.data() + number.size() || wall < 0)) return {};
  if (!number.empty()) one.wall_ns = wall;
  return one;
}

}  // namespace

void add_preflight(std::map<std::string, std::string>& facts, const TrialNews& news) {
  const bool passed = news.state == store::TrialState::kVerified || news.state == store::TrialState::kRecorded;
  const std::string subject = one_line(news.subject), cell = one_line(news.cell);
  std::string name = std::string(kPreflightFact) + subject + "/" + cell;
  std::replace(name.begin(), name.end(), '=', ':');  // a fact's name ends there
  if (facts.size() >= kMost && !facts.contains(name)) return;
  facts[name] = std::string(passed ? "passed" : "failed") + "\t" + (news.wall_ns ? std::to_string(*news.wall_ns) : "") + "\t" +
                subject + "\t" + cell + "\t" + one_line(news.failure.substr(0, kMostFailureBytes));
}

std::map<std::string, std::string> preflight_facts(const std::map<std::string, std::string>& facts) {
  std::map<std::string, std::string> found;
  size_t bytes = 0;
  for (const auto& [name, value] : facts) {
    if (!name.starts_with(kPreflightFact) || !parse(value) || found.size() >= kMost) continue;
    bytes += name.size() + value.size();
    if (bytes > kMostBytes) break;
    found[name] = value;
  }
  return found;
}

std::vector<NodePreflight> preflight_of(const std::map<std::string, std::string>& facts) {
  std::vector<NodePreflight> found;
  for (const auto& [name, value] : preflight_facts(facts)) found.push_back(*parse(value));
  return found;
}

}  // namespace stab::engine
