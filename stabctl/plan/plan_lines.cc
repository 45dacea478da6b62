// A line goes with the node that begins last on or before it. What is left is read again and compared with the tree that it
// should be, so that no way of writing TOML leads to another plan than the one that was meant.
#include "stabctl/plan/plan_lines.h"

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

namespace stab::ctl {
namespace {

using Nodes = std::set<const toml::TomlNode*>;
// Lines on which something begins, and whether that goes.
using Owners = std::map<int, bool>;

// Inner nodes come behind outer ones: where both begin on one line, the line is the inner one's.
void add_owners(const toml::TomlNode& node, const Nodes& without, bool goes, Owners& owners) {
  goes = goes || without.contains(&node);
  if (node.spot.line > 0) owners[node.spot.line] = goes;
  for (const toml::TomlNode& item : node.items) add_owners(item, without, goes, owners);
  for (const toml::TomlEntry& entry : node.entries) {
    if (entry.key_spot.line > 0) owners[entry.key_spot.line] = goes || without.contains(&entry.value);
    add_owners(entry.value, without, goes, owners);
  }
}

toml::TomlNode rest_of(const toml::TomlNode& node, const Nodes& without) {
  toml::TomlNode out = node;
  out.items.clear();
  out.entries.clear();
  for (const toml::TomlNode& item : node.items)
    if (!without.contains(&item)) out.items.push_back(rest_of(item, without));
  for (const toml::TomlEntry& entry : node.entries)
    if (!without.contains(&entry.value)) out.entries.push_back({entry.key, entry.key_spot, rest_of(entry.value, without)});
  return out;
}

std::vector<const toml::TomlEntry*> by_key(const toml::TomlNode& table) {
  std::vector<const toml::TomlEntry*> out;
  for (const toml::TomlEntry& entry : table.entries) out.push_back(&entry);
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  return out;
}

// Keys in any order: an array of tables begins elsewhere without its first one. No line is moved, so what is left of a table has
// its order.
bool are_same(const toml::TomlNode& a, const toml::TomlNode& b) {
  const auto of_a = by_key(a), of_b = by_key(b);
  return a.kind == b.kind && a.text == b.text && a.integer == b.integer && a.boolean == b.boolean &&
         (a.number == b.number || (a.number != a.number && b.number != b.number)) &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), are_same) &&
         std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const auto* x, const auto* y) { return x->key == y->key && are_same(x->value, y->value); });
}

}  // namespace

std::string without_lines_of(const Nodes& without, const std::string& text, const std::string& path, const toml::TomlNode& tree) {
  Owners owners;
  for (const toml::TomlEntry& entry : tree.entries) {
    owners[entry.key_spot.line] = without.contains(&entry.value);
    add_owners(entry.value, without, false, owners);
  }
  std::string out;
  bool goes = false;
  int number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (const auto owner = owners.find(number); owner != owners.end()) goes = owner->second;
    if (!goes) out.append(text, at, end - at);
    out += '\n';
    at = end + 1;
  }
  const auto again = toml::read_toml(out, path);
  const auto* left = std::get_if<toml::TomlNode>(&again);
  return left != nullptr && are_same(*left, rest_of(tree, without)) ? out : std::string();
}

}  // namespace stab::ctl
