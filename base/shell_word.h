// Words for a shell: of commands that another machine runs, of those that a person is told to copy, and of those that one types.
#pragma once

#include <string>
#include <string_view>

namespace stab {

// One word, whatever it holds; as it is where a shell reads nothing in it.
std::string shell_word(std::string_view text);

// The other way round: what a word that is typed like this stands for, once its quotes and backslashes are read. The last quote
// may be open still, as it is in a word that is being typed. Nothing else is expanded.
std::string text_of_shell_word(std::string_view typed);

}  // namespace stab
