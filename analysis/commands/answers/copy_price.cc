#include "analysis/commands/answers/copy_price.h"

#include <cmath>

#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

// What each of these may cost a run in copies beyond a plain one. Seen were 0.26 to 0.55 ns, 0.1 to 0.2 ms and 3 ns; from nothing
// to about twice that is allowed for.
constexpr double kMostOfEntry = 1e-9, kMostOfLibrary = 0.5e-3, kMostOfFunction = 10e-9;  // s

// "0 and 48000000 calls through pointers"
std::string copied_text(const CopyFacts& facts) {
  std::string out;
  const auto add = [&](double older, double newer, const char* what) {
    if (older == newer) return;
    out += std::string(out.empty() ? "" : ", ") + std::to_string(std::llround(older)) + " and " +
           std::to_string(std::llround(newer)) + " " + what;
  };
  add(facts.old_entries, facts.new_entries, "calls through pointers");
  add(facts.old_libraries, facts.new_libraries, "libraries loaded");
  add(facts.old_functions, facts.new_functions, "functions");
  return out;
}

const char* cure_of(WithoutCopies what) {
  switch (what) {
    case WithoutCopies::kExplain:
      return "'stabctl explain' leads pointers to where the functions lie, and such calls cost no more";
    case WithoutCopies::kGateFile:
      return "code = \"direct\" in [gate] leads pointers to where the functions lie, and such calls cost no more";
    case WithoutCopies::kPlainPrograms: break;
  }
  return "a plan with code = \"off\" and link = { seeds = 10 } compares the plain programs over link orders";
}

}  // namespace

bool copies_count(const std::optional<CopyFacts>& facts) { return facts && facts->counts; }

statistics::CopyPrice price_of(const CopyFacts& facts) {
  if (facts.seconds <= 0) return {};
  statistics::CopyPrice out;
  const auto add = [&](double more, double most) {
    const double share = std::log1p(std::abs(more) * most / facts.seconds);
    (more > 0 ? out.high : out.low) += more > 0 ? share : -share;
  };
  add(facts.new_entries - facts.old_entries, kMostOfEntry);
  add(facts.new_libraries - facts.old_libraries, kMostOfLibrary);
  add(facts.new_functions - facts.old_functions, kMostOfFunction);
  return out;
}

std::string copies_sentence(const CopyFacts& facts, WithoutCopies what) {
  const statistics::CopyPrice price = price_of(facts);
  const auto bound = [](double log_ratio) { return text::signed_per_cent(std::exp(log_ratio)); };
  return "a run of each has " + copied_text(facts) +
         ". these cost more where functions lie at random than in a plain run, which may be " + bound(price.low) + " to " +
         bound(price.high) +
         " % of the difference there. the answer allows for it. " + cure_of(facts.is_rest ? WithoutCopies::kPlainPrograms : what);
}

std::string led_sentence(const CopyFacts& facts) {
  return "a run of each has " + std::to_string(std::llround(facts.old_led)) + " and " +
         std::to_string(std::llround(facts.new_led)) +
         " calls through pointers, which cost more where functions lie at random. so pointers led to where the functions lay, "
         "and such calls cost what they cost in a plain run";
}

std::string uncounted_sentence(const std::string& why) {
  return "calls through pointers, libraries loaded and functions copied were not counted, as " + why +
         ": if one side has more of them, what that costs in random layouts is a part of the difference";
}

void write_copies(text::JsonWriter& json, const CopyFacts& facts) {
  const statistics::CopyPrice price = price_of(facts);
  json.value("counts", facts.counts).value("low", std::expm1(price.low)).value("high", std::expm1(price.high));
  json.value("old_pointer_calls", facts.old_entries).value("new_pointer_calls", facts.new_entries);
  json.value("old_libraries", facts.old_libraries).value("new_libraries", facts.new_libraries);
  json.value("old_functions", facts.old_functions).value("new_functions", facts.new_functions);
  if (facts.old_led + facts.new_led > 0) json.value("old_led", facts.old_led).value("new_led", facts.new_led);
}

}  // namespace stab::commands
