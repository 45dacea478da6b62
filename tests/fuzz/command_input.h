// What the fuzzers of `stats` and `analyze` share: an input is a command line and the CSV file that it reads, as text, and
// is changed with knowledge of both: flags that the method takes, columns that the file has, numbers far out.
//
//   welch --response y --group g
//   y,g
//   1,a
//
// And what a command may never say: a number that is none, a probability outside [0, 1], a negative variance, an interval
// that ends before it begins or leaves its own estimate out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/commands/answers/command_output.h"

namespace stab::fuzz {

struct CommandInput {
  std::vector<std::string> words;  // behind the command's name, without the file's
  std::string file;

  static CommandInput parse(const uint8_t* data, size_t size);
  std::string text() const;
};

// A path that holds `text` until the next call.
std::string path_of(const std::string& text);

// The flags that a command line may get.
struct Grammar {
  // The first word (a method), or empty where there is none.
  std::vector<std::string> methods;
  std::function<std::vector<std::string>(const std::string& method)> flags;
  std::vector<std::string> switches;
};

// A changed input, by `seed`. `bytes` changes a text as libFuzzer does.
CommandInput mutate(CommandInput input, const Grammar& grammar, uint64_t seed, const std::function<void(std::string&)>& bytes);

// Aborts, with a reason, on what must not be said. json: the command wrote JSON.
void check_output(const CommandInput& input, const commands::CommandOutput& output, bool json);

}  // namespace stab::fuzz
