#include "analysis/page/scriptless.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/page/page.h"
#include "analysis/page/resources.h"
#include "analysis/text/markup.h"

namespace stab::page {

std::string scriptless_page(std::string_view title, const std::string& main, std::string_view command) {
  const std::string shown = text::as_markup_line(title);
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         page_policy() +
         "\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"generator\" content=\"stabctl\">\n<title>" +
         shown + "</title>\n<style>" + std::string(page_style()) + "</style>\n</head>\n<body>\n<main>\n<h1>" + shown + "</h1>\n" +
         main + "</main>\n<footer><p>Again: <code>" + text::as_markup_line(command) + "</code></p></footer>\n</body>\n</html>\n";
}

std::string svg_number(double value) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%.1f", value);
  return out.data();
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view of_class) {
  return "<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" + svg_number(x2) + "\" y2=\"" +
         svg_number(y2) + "\" class=\"" + std::string(of_class) + "\"/>";
}

std::string svg_label(double x, double y, std::string_view words, std::string_view of_class, std::string_view anchor,
                      bool leans) {
  const std::string turned = leans ? " transform=\"rotate(-38 " + svg_number(x) + " " + svg_number(y) + ")\"" : std::string();
  return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" text-anchor=\"" + std::string(anchor) +
         "\" class=\"label " + std::string(of_class) + "\"" + turned + ">" + text::as_markup_line(words) + "</text>";
}

double tick_step(double span) {
  const double rough = span / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0})
    if (rough <= times * power) return times * power;
  return 10 * power;
}

}  // namespace stab::page
