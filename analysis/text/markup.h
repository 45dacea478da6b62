// Text from elsewhere inside XML, HTML and Markdown.
#pragma once

#include <string>
#include <string_view>

namespace stab::text {

// Nothing in it is markup, in an element or in a quoted attribute.
std::string as_markup(std::string_view text);

// Text on one line, well-formed: control characters, of which XML has none, are blanks.
std::string as_line(std::string_view text);
// Both.
std::string as_markup_line(std::string_view text);

// Shown as it is by GitHub's Markdown, in a paragraph, a list or a table: "Find<int>" is no tag, "a*b*" no emphasis, "@team"
// calls nobody.
std::string as_markdown(std::string_view text);

}  // namespace stab::text
