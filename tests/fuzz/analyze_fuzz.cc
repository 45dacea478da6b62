// `stabctl analyze`: whatever the command line and the file, a refusal in words or a report whose numbers mean something,
// in each of its forms.
#include <algorithm>
#include <cstring>

#include "analysis/commands/stats/analyze_command.h"
#include "tests/fuzz/command_input.h"

namespace {

using namespace stab;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::CommandInput input = fuzz::CommandInput::parse(data, size);
  for (const std::string& word : input.words)
    if (word.starts_with("--figures") || word == "-" || word == "--help") return 0;  // writes files, reads standard input
  std::vector<std::string> words = input.words;
  words.insert(words.begin(), fuzz::path_of(input.file));
  fuzz::check_output(input, commands::run_analyze(words), false);
  for (const char* form : {"--json", "--markdown", "--csv", "--r"}) {
    std::vector<std::string> with(words);
    with.emplace_back(form);
    const bool alone =
        std::none_of(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("--json"); });
    fuzz::check_output(input, commands::run_analyze(with), alone && std::string(form) == "--json");
  }
  return 0;
}

#ifdef STAB_LIBFUZZER
namespace {

const fuzz::Grammar& grammar() {
  static const fuzz::Grammar kGrammar{
      {},
      [](const std::string&) {
        return std::vector<std::string>{"response", "factors", "within", "block", "cluster", "log", "margin", "alpha"};
      },
      {"json", "log", "markdown", "csv", "r", "help"}};
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
