// All texts are walked at once: what they share is the command's, and where they differ, a parameter must say how. If more than
// one way is open, the first that reaches the ends of all texts counts.
#include "stabctl/scanned_commands.h"

#include <algorithm>
#include <set>

namespace stab::ctl {
namespace {

class Walk {
 public:
  explicit Walk(const std::vector<ScannedResult>& results) : results_(results) {}

  // From these places to the ends; the text is that behind them.
  std::optional<std::string> from(const std::vector<size_t>& places) {
    if (are_ends(places)) return "";
    if (failed_.size() > kMostFailures || failed_.contains(places)) return {};
    if (const auto rest = by_letters(places)) return rest;
    for (size_t parameter = 0; parameter < results_[0].parameters.size(); ++parameter)
      if (const auto rest = by_parameter(places, parameter)) return rest;
    failed_.insert(places);
    return {};
  }

 private:
  // Real commands need a few; this bounds what a file made for it can take.
  static constexpr size_t kMostFailures = 1000;

  bool are_ends(const std::vector<size_t>& places) const {
    for (size_t i = 0; i < results_.size(); ++i)
      if (places[i] != results_[i].text.size()) return false;
    return true;
  }
  bool is_shared(const std::vector<size_t>& places) const {
    const std::string& first = results_[0].text;
    for (size_t i = 0; i < results_.size(); ++i)
      if (places[i] >= results_[i].text.size() || results_[i].text[places[i]] != first[places[0]]) return false;
    return true;
  }
  std::optional<std::string> by_letters(std::vector<size_t> places) {
    if (!is_shared(places)) return {};
    const char letter = results_[0].text[places[0]];
    for (size_t& place : places) ++place;
    const auto rest = from(places);
    return rest ? std::optional(letter + *rest) : std::nullopt;
  }
  std::optional<std::string> by_parameter(std::vector<size_t> places, size_t parameter) {
    bool moved = false;
    for (size_t i = 0; i < results_.size(); ++i) {
      const std::string& value = results_[i].parameters[parameter].value;
      if (results_[i].text.compare(places[i], value.size(), value) != 0) return {};
      places[i] += value.size();
      moved = moved || !value.empty();
    }
    if (!moved) return {};
    const auto rest = from(places);
    return rest ? std::optional("{" + results_[0].parameters[parameter].name + "}" + *rest) : std::nullopt;
  }

  const std::vector<ScannedResult>& results_;
  std::set<std::vector<size_t>> failed_;
};

bool have_one_list_of_parameters(const std::vector<ScannedResult>& results) {
  const auto same = [](const metrics::Parameter& a, const metrics::Parameter& b) { return a.name == b.name; };
  const std::vector<metrics::Parameter>& first = results[0].parameters;
  return std::all_of(results.begin(), results.end(), [&](const ScannedResult& one) {
    return std::equal(one.parameters.begin(), one.parameters.end(), first.begin(), first.end(), same);
  });
}

// The text with values in the places of their parameters.
std::string instance_of(const std::string& text, const std::vector<metrics::Parameter>& parameters) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto stands_here = [&](const metrics::Parameter& one) {
      return text.compare(at, one.name.size() + 2, "{" + one.name + "}") == 0;
    };
    const auto one = std::find_if(parameters.begin(), parameters.end(), stands_here);
    out += one == parameters.end() ? text.substr(at, 1) : one->value;
    at += one == parameters.end() ? 1 : one->name.size() + 2;
  }
  return out;
}

struct Command {
  std::vector<ScannedResult> results;
  std::string text;

  bool has_values_of(const ScannedResult& result) const {
    return std::any_of(results.begin(), results.end(), [&](const auto& one) { return one.parameters == result.parameters; });
  }
  bool takes(const ScannedResult& result) {
    if (std::find(results.begin(), results.end(), result) != results.end()) return true;
    if (result.parameters.empty() || has_values_of(result)) return false;
    results.push_back(result);
    if (instance_of(text, result.parameters) == result.text) return true;
    const auto found = scanned_text(results);
    if (found) text = *found;
    else results.pop_back();
    return found.has_value();
  }
};

}  // namespace

std::optional<std::string> scanned_text(const std::vector<ScannedResult>& results) {
  if (!have_one_list_of_parameters(results)) return {};
  return Walk(results).from(std::vector<size_t>(results.size(), 0));
}

std::vector<std::string> scanned_commands(const std::vector<ScannedResult>& results) {
  std::vector<Command> commands;
  std::vector<size_t> of;
  for (const ScannedResult& result : results) {
    size_t at = 0;
    while (at < commands.size() && !commands[at].takes(result)) ++at;
    if (at == commands.size()) commands.push_back({{result}, result.text});
    of.push_back(at);
  }
  std::vector<std::string> texts;
  for (const size_t at : of) texts.push_back(commands[at].text);
  return texts;
}

}  // namespace stab::ctl
