// Typed reading of one table. A message names the key as the user wrote it, says what was found and what was
// expected; the hint shows what to type.
#include "plan/toml/section.h"

#include <algorithm>
#include <tuple>

#include "base/number_text.h"
#include "base/wording.h"
#include "plan/toml/units.h"

namespace stab::toml {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

}  // namespace

Faults::Faults(std::string_view text, std::string file, size_t max_errors, bool accepted_once)
    : text_(text), file_(std::move(file)), lines_{0}, max_errors_(max_errors), accepted_once_(accepted_once) {
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1)) lines_.push_back(end + 1);
}

std::string_view Faults::line(int number) const {
  if (number < 1 || static_cast<size_t>(number) > lines_.size()) return {};
  const size_t start = lines_[static_cast<size_t>(number) - 1];
  std::string_view found = text_.substr(start, text_.find('\n', start) - start);
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

Diagnostic Faults::diagnostic(SourceSpot spot, std::string message, std::string hint) const {
  Diagnostic out;
  out.message = std::move(message);
  out.hint = std::move(hint);
  if (spot.known()) out.line_text = line(spot.line);
  if (spot.file.empty()) spot.file = file_;
  out.spot = std::move(spot);
  return out;
}

void Faults::error(const SourceSpot& spot, std::string message, std::string hint) {
  if (full()) {
    ++dropped_;
    return;
  }
  errors_.push_back(diagnostic(spot, std::move(message), std::move(hint)));
}

void Faults::warning(const SourceSpot& spot, std::string message, std::string hint) {
  if (warnings_.size() >= max_errors_) {
    ++dropped_warnings_;
    return;
  }
  warnings_.push_back(diagnostic(spot, std::move(message), std::move(hint)));
  warnings_.back().severity = Severity::kWarning;
}

SourceSpot Faults::inside(const SourceSpot& spot, std::string_view needle) const {
  constexpr size_t kLongestLine = 4096;  // a plan may ask for every word of it
  const std::string_view line = this->line(spot.line);
  if (line.size() > kLongestLine) return spot;
  // Columns count code points; only lines of ASCII can be searched by bytes.
  if (std::any_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return spot;
  const size_t from = static_cast<size_t>(std::max(spot.column, 1)) - 1;
  const size_t at = line.find(needle, from);
  if (at == std::string::npos) return spot;
  SourceSpot inner = spot;
  inner.column = static_cast<int>(at) + 1;
  return inner;
}

std::vector<Diagnostic> Faults::take_errors() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.spot.line, a.spot.column) < std::tie(b.spot.line, b.spot.column);
  });
  if (dropped_ > 0) {
    Diagnostic more;
    more.message = "too many errors, " + std::to_string(dropped_) + " more not shown";
    errors_.push_back(std::move(more));
  }
  return std::move(errors_);
}

std::vector<Diagnostic> Faults::take_warnings() {
  if (dropped_warnings_ > 0) {
    Diagnostic more;
    more.severity = Severity::kWarning;
    more.message = "too many warnings, " + std::to_string(dropped_warnings_) + " more not shown";
    warnings_.push_back(std::move(more));
  }
  return std::move(warnings_);
}

void wrong_type(Faults& faults, std::string_view key, const TomlNode& value,
                TomlNode::Kind expected) {
  using Kind = TomlNode::Kind;
  std::string hint;
  if (value.kind == Kind::kString && (expected == Kind::kInteger || expected == Kind::kFloat))
    hint = "write it without quotes";
  if (expected == Kind::kBoolean) hint = "write true or false";
  if (expected == Kind::kString && value.kind != Kind::kArray && value.kind != Kind::kTable)
    hint = "put it in quotes";
  if (expected == Kind::kArray && value.kind == Kind::kString) hint = "write [\"" + value.text + "\"]";
  faults.error(value.spot,
               in_quotes(key) + " is " + std::string(kind_name(value.kind)) + ", expected " + std::string(kind_name(expected)),
               hint);
}

void unknown_word(Faults& faults, const SourceSpot& spot, std::string_view what,
                  std::string_view word, const std::vector<std::string_view>& words) {
  if (faults.full()) return faults.error(spot, {});
  faults.error(spot, std::string(what) + " " + in_quotes(word) + " is none of " + joined(words), did_you_mean(word, words));
}

const TomlNode* Section::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  for (const TomlEntry& entry : table_.entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

const TomlNode* Section::find(std::string_view key, TomlNode::Kind expected) {
  const TomlNode* node = find(key);
  if (!node || node->kind == expected) return node;
  wrong_type(faults_, key, *node, expected);
  return nullptr;
}

bool Section::require(std::string_view key, std::string hint) {
  for (const TomlEntry& entry : table_.entries)
    if (entry.key == key) return true;
  faults_.error(table_.spot, name_ + " has no " + in_quotes(key), std::move(hint));
  return false;
}

const TomlNode* Section::text(std::string_view key, std::string& out) {
  const TomlNode* node = find(key, TomlNode::Kind::kString);
  if (!node) return nullptr;
  if (node->text.find('\0') != std::string::npos) {
    faults_.error(node->spot, in_quotes(key) + " contains a zero byte", "remove it");
    return nullptr;
  }
  out = node->text;
  return node;
}

const TomlNode* Section::boolean(std::string_view key, bool& out) {
  const TomlNode* node = find(key, TomlNode::Kind::kBoolean);
  if (!node) return nullptr;
  out = node->boolean;
  return node;
}

const TomlNode* Section::integer(std::string_view key, int64_t low, int64_t high, int& out) {
  const TomlNode* node = find(key, TomlNode::Kind::kInteger);
  if (!node) return nullptr;
  if (node->integer < low || node->integer > high) {
    faults_.error(node->spot, in_quotes(key) + " is " + std::to_string(node->integer) + ", expected " + std::to_string(low) +
                                  " to " + std::to_string(high));
    return nullptr;
  }
  out = static_cast<int>(node->integer);
  return node;
}

const TomlNode* Section::number(std::string_view key, double low, double high, double& out) {
  const TomlNode* node = find(key);
  if (!node) return nullptr;
  if (node->kind != TomlNode::Kind::kInteger && node->kind != TomlNode::Kind::kFloat) {
    wrong_type(faults_, key, *node, TomlNode::Kind::kFloat);
    return nullptr;
  }
  if (!(node->number >= low && node->number <= high)) {
    faults_.error(node->spot, in_quotes(key) + " is " + number_text(node->number) + ", expected " + number_text(low) + " to " +
                                  number_text(high));
    return nullptr;
  }
  out = node->number;
  return node;
}

const TomlNode* Section::fraction(std::string_view key, double low, double high, double& out) {
  const TomlNode* node = find(key);
  if (!node) return nullptr;
  double value = node->number;
  if (node->kind == TomlNode::Kind::kString) {
    const Result<double> parsed = parse_fraction(node->text);
    if (!parsed) {
      faults_.error(node->spot, in_quotes(key) + ": " + parsed.error().message);
      return nullptr;
    }
    value = *parsed;
  } else if (node->kind != TomlNode::Kind::kFloat && node->kind != TomlNode::Kind::kInteger) {
    faults_.error(node->spot, in_quotes(key) + " is " + std::string(kind_name(node->kind)) + ", expected a share",
                  "write a percentage such as \"1%\"");
    return nullptr;
  }
  // 2 is no share of anything, and 1 is 1% as often as all.
  const bool is_whole = node->kind == TomlNode::Kind::kInteger ||
                        (node->kind == TomlNode::Kind::kString && node->text.find_first_of("%.eE") == std::string::npos);
  if (is_whole && value >= 1 && !faults_.accepted_once()) {
    const std::string written = number_text(value);
    const bool may_be_all = value == 1 && high >= 1;
    faults_.error(node->spot, in_quotes(key) + " is " + written + (may_be_all ? ": is that 1% or 100%?" : ", expected a share"),
                  "write \"" + written + "%\"" + (may_be_all ? ", or 1.0 for 100%" : ""));
    return nullptr;
  }
  if (!(value >= low && value <= high)) {
    faults_.error(node->spot,
                  in_quotes(key) + " is " + percent_text(value) + ", expected " + percent_text(low) + " to " + percent_text(high),
                  "write a percentage such as \"1%\"");
    return nullptr;
  }
  out = value;
  return node;
}

const TomlNode* Section::duration(std::string_view key, std::chrono::nanoseconds& out) {
  const TomlNode* node = find(key);
  if (!node) return nullptr;
  if (node->kind != TomlNode::Kind::kString) {
    faults_.error(node->spot, in_quotes(key) + " is " + std::string(kind_name(node->kind)) + ", expected a duration",
                  "write a number and its unit in quotes, such as \"60s\"");
    return nullptr;
  }
  const Result<std::chrono::nanoseconds> parsed = parse_duration(node->text);
  if (!parsed) {
    faults_.error(node->spot, in_quotes(key) + ": " + parsed.error().message, "such as \"60s\"");
    return nullptr;
  }
  out = *parsed;
  return node;
}

const TomlNode* Section::bytes(std::string_view key, uint64_t& out) {
  const TomlNode* node = find(key);
  if (!node) return nullptr;
  if (node->kind == TomlNode::Kind::kInteger && node->integer >= 0) {
    out = static_cast<uint64_t>(node->integer);
    return node;
  }
  if (node->kind != TomlNode::Kind::kString) {
    faults_.error(node->spot, in_quotes(key) + " is " + std::string(kind_name(node->kind)) + ", expected a size",
                  "such as \"64MiB\"");
    return nullptr;
  }
  const Result<uint64_t> parsed = parse_bytes(node->text);
  if (!parsed) {
    faults_.error(node->spot, in_quotes(key) + ": " + parsed.error().message, "such as \"64MiB\"");
    return nullptr;
  }
  out = *parsed;
  return node;
}

const TomlNode* Section::bytes(std::string_view key, uint64_t low, uint64_t& out) {
  uint64_t read = 0;
  const TomlNode* node = bytes(key, read);
  if (!node) return nullptr;
  if (read < low) {
    const std::string written = node->kind == TomlNode::Kind::kString ? node->text : std::to_string(read);
    faults_.error(node->spot,
                  in_quotes(key) + " is " + in_quotes(written) + ", expected at least " + std::to_string(low) + " bytes");
    return nullptr;
  }
  out = read;
  return node;
}

const TomlNode* Section::arguments(std::string_view key, std::vector<std::string>& out, std::vector<SourceSpot>* spots) {
  const TomlNode* node = find(key, TomlNode::Kind::kArray);
  if (!node) return nullptr;
  for (const TomlNode& item : node->items) {
    if (item.kind != TomlNode::Kind::kString) {
      wrong_type(faults_, std::string(key) + "[]", item, TomlNode::Kind::kString);
      return nullptr;
    }
    if (item.text.find('\0') != std::string::npos) {
      faults_.error(item.spot, in_quotes(key) + " has an entry with a zero byte");
      return nullptr;
    }
  }
  out.clear();
  for (const TomlNode& item : node->items) {
    out.push_back(item.text);
    if (spots) spots->push_back(item.spot);
  }
  return node;
}

const TomlNode* Section::texts(std::string_view key, std::vector<std::string>& out,
                               std::vector<SourceSpot>* spots) {
  std::vector<std::string> read;
  const TomlNode* node = arguments(key, read, spots);
  if (!node) return nullptr;
  for (size_t i = 0; i < read.size(); ++i) {
    if (!read[i].empty()) continue;
    if (spots) spots->clear();
    faults_.error(node->items[i].spot, in_quotes(key) + " has an empty entry", "remove it, or write what it should be");
    return nullptr;
  }
  out = std::move(read);
  return node;
}

const TomlNode* Section::word(std::string_view key, const std::vector<std::string_view>& words,
                              size_t& out) {
  std::string text;
  const TomlNode* node = this->text(key, text);
  if (!node) return nullptr;
  const auto at = std::find(words.begin(), words.end(), text);
  if (at == words.end()) {
    unknown_word(faults_, node->spot, key, text, words);
    return nullptr;
  }
  out = static_cast<size_t>(at - words.begin());
  return node;
}

const TomlNode* Section::table(std::string_view key) { return find(key, TomlNode::Kind::kTable); }

void Section::finish() {
  for (const TomlEntry& entry : table_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    if (faults_.full()) {
      faults_.error(entry.key_spot, {});
      continue;
    }
    const std::string_view elsewhere = faults_.table_of(entry.key);
    const std::string meant = elsewhere.empty() || elsewhere == name_ ? did_you_mean(entry.key, known_)
                                                                       : "it stands below " + std::string(elsewhere);
    faults_.error(entry.key_spot, "unknown key " + in_quotes(entry.key) + " in " + name_,
                  meant.empty() ? "known are " + joined(known_) : meant);
  }
}

}  // namespace stab::toml
