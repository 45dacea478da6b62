// toml++ keeps tables sorted by key and throws away the order of lines. A plan's order carries meaning (the
// first level is the baseline, the first factor varies slowest), so tables are sorted back by position here.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include "plan/toml_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <tuple>

namespace stab::plan {
namespace {

SourceSpot spot_of(const toml::source_region& region, const std::string& path) {
  return {path, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

TomlNode convert(const toml::node& node, const std::string& path) {
  TomlNode out;
  out.spot = spot_of(node.source(), path);
  if (const auto* text = node.as_string()) {
    out.kind = TomlNode::Kind::kString;
    out.text = text->get();
    return out;
  }
  if (const auto* integer = node.as_integer()) {
    out.kind = TomlNode::Kind::kInteger;
    out.integer = integer->get();
    out.number = static_cast<double>(out.integer);
    return out;
  }
  if (const auto* number = node.as_floating_point()) {
    out.kind = TomlNode::Kind::kFloat;
    out.number = number->get();
    return out;
  }
  if (const auto* boolean = node.as_boolean()) {
    out.kind = TomlNode::Kind::kBoolean;
    out.boolean = boolean->get();
    return out;
  }
  if (const auto* array = node.as_array()) {
    out.kind = TomlNode::Kind::kArray;
    for (const toml::node& item : *array) out.items.push_back(convert(item, path));
    return out;
  }
  if (const auto* table = node.as_table()) {
    out.kind = TomlNode::Kind::kTable;
    for (const auto& [key, value] : *table)
      out.entries.push_back(
          {std::string(key.str()), spot_of(key.source(), path), convert(value, path)});
    std::stable_sort(out.entries.begin(), out.entries.end(),
                     [](const TomlEntry& a, const TomlEntry& b) {
                       return std::tie(a.key_spot.line, a.key_spot.column) <
                              std::tie(b.key_spot.line, b.key_spot.column);
                     });
    return out;
  }
  out.kind = TomlNode::Kind::kDateTime;
  return out;
}

}  // namespace

std::string_view kind_name(TomlNode::Kind kind) {
  switch (kind) {
    case TomlNode::Kind::kString: return "a string";
    case TomlNode::Kind::kInteger: return "an integer";
    case TomlNode::Kind::kFloat: return "a number";
    case TomlNode::Kind::kBoolean: return "a boolean";
    case TomlNode::Kind::kDateTime: return "a date or time";
    case TomlNode::Kind::kArray: return "an array";
    case TomlNode::Kind::kTable: return "a table";
  }
  return "?";
}

std::variant<TomlNode, Diagnostic> read_toml(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    // "Error while parsing key-value pair: cannot redefine ...": the parser's own state tells a user nothing.
    std::string_view message = error.description();
    if (const size_t colon = message.find(": "); message.starts_with("Error while") && colon != message.npos)
      message.remove_prefix(colon + 2);
    return diagnostic_at(text, spot_of(error.source(), path), "not valid TOML: " + std::string(message));
  }
  return convert(parsed.table(), path);
}

}  // namespace stab::plan
