// What two sides did otherwise than each other, beside taking another time, or that they are one program: a first thing to know
// of a comparison of times.
#pragma once

#include <string>
#include <vector>

namespace stab::commands {

struct SideDifferences {
  std::string outputs{};  // how what they print differs: "line 3: 'a' against 'b'"; empty: it doesn't, or nobody knows how
  std::string ends{};     // their exit statuses, where both are accepted and differ: "0 against 1"
  bool same_file = false;  // what both run is one file, byte for byte
};

// Sentences for the answer, of the two sides of `workload`; empty: there is one workload alone.
std::vector<std::string> difference_sentences(const SideDifferences& sides, const std::string& workload = {});
// The same of sides that have a name: "the first and './new'".
std::vector<std::string> difference_sentences_of(const SideDifferences& sides, const std::string& who);

}  // namespace stab::commands
