// Completion: what a shell offers for the word at the cursor.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stab::ctl {

// words: after "stabctl", up to the cursor; the last is the one to complete, perhaps empty. `experiments` is asked for their
// names where one can stand. Empty: nothing of ours; files may stand there.
std::vector<std::string> candidates(const std::vector<std::string>& words,
                                    const std::function<std::vector<std::string>()>& experiments);

// stabctl __complete [--typed] WORDS...: the candidates, one on each line, for the scripts that `stabctl completion` prints.
// --typed: the words are as they stand on the command line, quotes included.
int complete_command(std::vector<std::string> words);

}  // namespace stab::ctl
