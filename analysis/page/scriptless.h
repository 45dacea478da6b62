// What pages without a script are made of: the frame around them, and elements of SVG with their sizes in pixels. Their style is
// that of a report's page, whose policy names its hash, so nothing in them has a style of its own.
#pragma once

#include <string>
#include <string_view>

namespace stab::page {

// main: what stands below the heading, as HTML. command: what makes the page again
std::string scriptless_page(std::string_view title, const std::string& main, std::string_view command);

// With one decimal.
std::string svg_number(double value);
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view of_class);
// `leans`: its end is where it stands, and it rises towards it, for words that would touch each other.
std::string svg_label(double x, double y, std::string_view words, std::string_view of_class, std::string_view anchor = "start",
                      bool leans = false);
// 1, 2 or 5 times a power of ten: about six of them in `span`. pre: span > 0
double tick_step(double span);

}  // namespace stab::page
