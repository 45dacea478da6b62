// All texts are walked at once: what they share is the command's, and where they differ, a parameter must say how. If more than
// one way is open, the first that reaches the ends of all texts counts.
#include "stabctl/reports/scanned_commands.h"

#include <algorithm>
#include <map>
#include <set>

namespace stab::ctl {
namespace {

// What of the work for one file is left, in places that are looked at. Scans of 2,000 results, of one command to a thousand, take
// 100 to 230,000; it bounds what a file made for it can take.
using Work = size_t;
constexpr Work kMostWork = 2'000'000;

class Walk {
 public:
  Walk(const std::vector<ScannedResult>& results, Work& left) : results_(results), left_(left) {}

  // From these places to the ends; the text is that behind them.
  std::optional<std::string> from(const std::vector<size_t>& places) {
    if (left_ < results_.size()) return {};
    left_ -= results_.size();
    if (are_ends(places)) return "";
    if (failed_.size() > kMostFailures || failed_.contains(places)) return {};
    if (const auto rest = by_letters(places)) return rest;
    for (size_t parameter = 0; parameter < results_[0].parameters.size(); ++parameter)
      if (const auto rest = by_parameter(places, parameter)) return rest;
    failed_.insert(places);
    return {};
  }

 private:
  // Real commands need a few.
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
  Work& left_;
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
    const auto one = text[at] == '{' ? std::find_if(parameters.begin(), parameters.end(), stands_here) : parameters.end();
    out += one == parameters.end() ? text.substr(at, 1) : one->value;
    at += one == parameters.end() ? 1 : one->name.size() + 2;
  }
  return out;
}

// Names and values of its parameters.
std::vector<std::string> values_of(const ScannedResult& result) {
  std::vector<std::string> out;
  for (const metrics::Parameter& one : result.parameters) out.insert(out.end(), {one.name, one.value});
  return out;
}

std::optional<std::string> text_for(const std::vector<ScannedResult>& results, Work& left) {
  if (!have_one_list_of_parameters(results)) return {};
  return Walk(results, left).from(std::vector<size_t>(results.size(), 0));
}

// A command and its results. Its text is the first way that is open for the witnesses among them, of which all others are
// instances: so it is the first that is open for all. invariant: results are instances of text, witnesses are some of them
class Command {
 public:
  explicit Command(const ScannedResult& first) : results_{first}, witnesses_{first}, text_(first.text) { note(first); }

  const std::string& text() const { return text_; }
  // Whether the result is one of it; then it has it.
  bool takes(const ScannedResult& result, Work& left) {
    const auto known = texts_.find(values_of(result));
    if (known != texts_.end()) return known->second == result.text;
    if (result.parameters.empty()) return false;
    if (instance_of(text_, result.parameters) != result.text && !finds_text_for(result, left)) return false;
    results_.push_back(result);
    note(result);
    return true;
  }

 private:
  void note(const ScannedResult& result) { texts_[values_of(result)] = result.text; }
  bool finds_text_for(const ScannedResult& result, Work& left) {
    std::vector<ScannedResult> witnesses = witnesses_;
    witnesses.push_back(result);
    for (;;) {
      const auto text = text_for(witnesses, left);
      if (!text) return false;
      const auto refuting = std::find_if(results_.begin(), results_.end(), [&](const ScannedResult& one) {
        left -= std::min(left, text->size());
        return instance_of(*text, one.parameters) != one.text;
      });
      if (refuting == results_.end()) {
        witnesses_ = std::move(witnesses), text_ = *text;
        return true;
      }
      witnesses.push_back(*refuting);
    }
  }

  std::vector<ScannedResult> results_, witnesses_;
  std::map<std::vector<std::string>, std::string> texts_;  // by names and values of parameters
  std::string text_;
};

}  // namespace

std::optional<std::string> scanned_text(const std::vector<ScannedResult>& results) {
  Work left = kMostWork;
  return text_for(results, left);
}

std::vector<std::string> scanned_commands(const std::vector<ScannedResult>& results) {
  std::vector<Command> commands;
  std::vector<size_t> of;
  Work left = kMostWork;
  for (const ScannedResult& result : results) {
    size_t at = 0;
    while (at < commands.size() && !commands[at].takes(result, left)) ++at;
    if (at == commands.size()) commands.emplace_back(result);
    of.push_back(at);
  }
  std::vector<std::string> texts;
  for (const size_t at : of) texts.push_back(commands[at].text());
  return texts;
}

}  // namespace stab::ctl
