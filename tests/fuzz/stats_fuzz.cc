// `stabctl stats`: whatever the command line and the file, a refusal in words or numbers that mean something.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "analysis/commands/stats/stats_command.h"
#include "analysis/commands/stats/stats_methods.h"
#include "tests/fuzz/command_input.h"

namespace {

using namespace stab;

// The value of --flag, or of --flag=; empty where it is not given.
std::string value_of(const fuzz::CommandInput& input, const std::string& flag) {
  for (size_t i = 0; i < input.words.size(); ++i) {
    if (input.words[i] == flag && i + 1 < input.words.size()) return input.words[i + 1];
    if (input.words[i].starts_with(flag + "=")) return input.words[i].substr(flag.size() + 1);
  }
  return {};
}

// Work that was asked for in so many words isn't a hang. Each of these takes about a second, and twenty with sanitizers.
bool asks_for_seconds(const fuzz::CommandInput& input) {
  // All pairs of forty groups with few degrees of freedom are 780 nested integrals.
  constexpr std::ptrdiff_t kMostRows = 11;
  if ((input.words[0] == "tukey" || input.words[0] == "dunnett") &&
      std::count(input.file.begin(), input.file.end(), '\n') > kMostRows)
    return true;
  // The constant of a classic boundary is searched for through all of its looks.
  constexpr double kMostLooks = 6;
  const std::string fractions = value_of(input, "--fractions");
  if (value_of(input, "--function").starts_with("classic-") &&
      (std::strtod(value_of(input, "--looks").c_str(), nullptr) > kMostLooks ||
       static_cast<double>(std::count(fractions.begin(), fractions.end(), ',')) >= kMostLooks))
    return true;
  return std::strtod(value_of(input, "--resamples").c_str(), nullptr) > 2000;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::CommandInput input = fuzz::CommandInput::parse(data, size);
  if (input.words.empty() || asks_for_seconds(input)) return 0;
  if (std::find(input.words.begin(), input.words.end(), "-") != input.words.end()) return 0;  // standard input
  std::vector<std::string> words = input.words;
  bool with_data = false;
  for (const auto family : {commands::sample_methods(), commands::group_methods(), commands::causal_methods()})
    for (const commands::StatsMethod& method : family) with_data |= method.name == words[0];
  if (with_data) words.insert(words.begin() + 1, fuzz::path_of(input.file));
  fuzz::check_output(input, commands::run_stats(words), false);
  if (std::find(words.begin(), words.end(), "--json") != words.end() ||
      std::find(words.begin(), words.end(), "--help") != words.end())
    return 0;
  words.push_back("--json");
  const commands::CommandOutput output = commands::run_stats(words);
  fuzz::check_output(input, output, words[words.size() - 2] != "--json" && output.exit_code == 0 && output.out.starts_with("{"));
  return 0;
}

#ifdef STAB_LIBFUZZER
namespace {

const fuzz::Grammar& grammar() {
  static const fuzz::Grammar kGrammar = [] {
    fuzz::Grammar made;
    for (const auto family :
         {commands::sample_methods(), commands::group_methods(), commands::causal_methods(), commands::planning_methods()})
      for (const commands::StatsMethod& method : family) made.methods.emplace_back(method.name);
    made.switches = {"json",           "log",    "exact",    "asymptotic", "no-continuity",
                     "equal-variance", "paired", "additive", "strict", "coz", "help"};
    made.flags = [](const std::string& name) {
      std::vector<std::string> flags;
      for (const auto family :
           {commands::sample_methods(), commands::group_methods(), commands::causal_methods(), commands::planning_methods()}) {
        for (const commands::StatsMethod& method : family) {
          if (method.name != name) continue;
          std::istringstream words{std::string(method.flags)};
          for (std::string flag; words >> flag;) flags.push_back(flag);
        }
      }
      return flags;
    };
    return made;
  }();
  return kGrammar;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const auto bytes = [](std::string& text) {
    std::string room(text.size() + 64, '\0');
    std::memcpy(room.data(), text.data(), text.size());
    room.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(room.data()), text.size(), room.size()));
    text = room;
  };
  const std::string text = fuzz::mutate(fuzz::CommandInput::parse(data, size), grammar(), seed, bytes).text().substr(0, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
#endif
