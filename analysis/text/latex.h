// Text from elsewhere inside LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace stab::text {

// Nothing in it is a command, a group, a place of a table or a ligature; line feeds and tabs are blanks, other control characters
// and what is no UTF-8 are question marks. Accented and foreign letters stay as they are, in UTF-8: pdflatex knows most European
// ones, LuaLaTeX what the fonts have.
std::string as_latex(std::string_view text);

}  // namespace stab::text
