// TOML text as a tree of our own, in source order and with the place of every key and value. The only file
// that knows toml++ is toml_reader.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plan/toml/diagnostic.h"

namespace stab::toml {

struct TomlEntry;

struct TomlNode {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kDateTime, kArray, kTable };
  Kind kind = Kind::kTable;
  SourceSpot spot;                 // without its file: there may be a million nodes of one
  std::string text;                // kString
  int64_t integer = 0;             // kInteger
  double number = 0;               // kFloat; kInteger too
  bool boolean = false;            // kBoolean
  std::vector<TomlNode> items;     // kArray
  std::vector<TomlEntry> entries;  // kTable, in the order written
};

struct TomlEntry {
  std::string key;
  SourceSpot key_spot;
  TomlNode value;
};

// The value of this key; null: the table has none.
const TomlNode* value_of(const TomlNode& table, std::string_view key);

// "a string", "an array", for messages.
std::string_view kind_name(TomlNode::Kind kind);

// The root table, or the one fault that ended the parse: of syntax, or of nesting (plan/toml/toml_nesting.h).
std::variant<TomlNode, Diagnostic> read_toml(std::string_view text, const std::string& path);

}  // namespace stab::toml
