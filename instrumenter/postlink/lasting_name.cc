#include "instrumenter/postlink/lasting_name.h"

#include <algorithm>

namespace stab::postlink {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; });
}

// What follows is a hash or a number: of a module, of link-time optimization by GCC.
bool announces_hash(std::string_view segment) {
  return segment == "llvm" || segment == "__uniq" || segment == "lto_priv";
}

// Without the hash of Rust's older mangling: "17h", 16 hexadecimal digits and E.
std::string_view without_rust_hash(std::string_view name) {
  constexpr size_t kBytes = 20;
  if (!name.starts_with("_ZN") || name.size() < kBytes || name.back() != 'E') return name;
  const std::string_view hash = name.substr(name.size() - kBytes);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!hash.starts_with("17h") || !std::all_of(hash.begin() + 3, hash.end() - 1, is_hex)) return name;
  return name.substr(0, name.size() - kBytes);
}

bool is_base_62(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Without the hashes of crates in Rust's mangling v0, RFC 2603: "Cs", base 62 and "_" in front of the length of a crate's name. A
// crate of another version has another hash.
std::string without_crate_hashes(std::string_view name) {
  std::string out;
  if (!name.starts_with("_R")) return std::string(name);
  for (size_t at = 0; at < name.size(); ++at) {
    out += name[at];
    if (name[at] != 'C' || at + 1 == name.size() || name[at + 1] != 's') continue;
    size_t end = at + 2;
    while (end < name.size() && is_base_62(name[end])) ++end;
    if (end + 1 < name.size() && name[end] == '_' && name[end + 1] >= '0' && name[end + 1] <= '9') at = end;
  }
  return out;
}

}  // namespace

std::string lasting_name(std::string_view name) {
  std::string lasting;
  std::string_view before;
  bool is_first = true, drops_number = false;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    const std::string_view segment = name.substr(at, end - at);
    at = end + 1;
    const bool is_number = is_digits(segment);
    // "f.cold.1" is the first part of f; "f.17" is f once more.
    const bool drops = !is_first && (announces_hash(segment) || (is_number && (drops_number || !is_word(before))));
    drops_number = announces_hash(segment);
    if (!drops) {
      if (!is_first) lasting += '.';
      lasting += is_first ? without_crate_hashes(without_rust_hash(segment)) : std::string(segment);
      // A number behind the name itself is no part of it.
      before = is_first ? std::string_view() : segment;
    }
    is_first = false;
  }
  return lasting;
}

}  // namespace stab::postlink
