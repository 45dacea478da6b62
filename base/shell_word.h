// Words for a shell: of commands that another machine runs, and of those that a person is told to copy.
#pragma once

#include <string>
#include <string_view>

namespace stab {

// One word, whatever it holds; as it is where a shell reads nothing in it.
std::string shell_word(std::string_view text);

}  // namespace stab
