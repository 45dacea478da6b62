// Section: reads the keys of one table, checks their types and ranges, and remembers which keys exist, so that
// finish() can call the others unknown. Faults collects what is wrong, so that one run of the parser tells all.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/toml/diagnostic.h"
#include "plan/toml/toml_reader.h"

namespace stab::toml {

class Faults {
 public:
  // Spots without a file are of `file`.
  Faults(std::string_view text, std::string file, size_t max_errors, bool accepted_once = false);
  // The text was accepted before, maybe by an older version: rules that came later are not for it.
  bool accepted_once() const { return accepted_once_; }
  // Of a key that a table doesn't know: below which one it stands ("[factors]"), or nothing.
  using TableOfKey = std::string_view (*)(std::string_view key);
  void set_tables(TableOfKey tables) { tables_ = tables; }
  std::string_view table_of(std::string_view key) const { return tables_ ? tables_(key) : std::string_view(); }
  void error(const SourceSpot& spot, std::string message, std::string hint = {});
  void warning(const SourceSpot& spot, std::string message, std::string hint = {});
  // The place of `needle` inside the value at `spot`, if it stands in the same source line; else `spot`.
  SourceSpot inside(const SourceSpot& spot, std::string_view needle) const;

  size_t error_count() const { return errors_.size() + dropped_; }
  // Further errors are only counted: no need to find words for them.
  bool full() const { return errors_.size() >= max_errors_; }
  // Sorted by place; the last one says how many more there are.
  std::vector<Diagnostic> take_errors();
  // The same.
  std::vector<Diagnostic> take_warnings();

 private:
  std::string_view line(int number) const;  // counted from 1, without its end
  Diagnostic diagnostic(SourceSpot spot, std::string message, std::string hint) const;

  std::string_view text_;
  std::string file_;
  std::vector<size_t> lines_;  // where each begins; a text may have as many faults as lines
  size_t max_errors_;
  bool accepted_once_;
  TableOfKey tables_ = nullptr;
  size_t dropped_ = 0, dropped_warnings_ = 0;
  std::vector<Diagnostic> errors_, warnings_;
};

// Every reader leaves `out` alone and returns null where the key is absent or its value is wrong (then the
// fault is noted), else returns the value's node.
class Section {
 public:
  // `name` as shown: "[experiment]".
  Section(const TomlNode& table, std::string name, Faults& faults)
      : table_(table), name_(std::move(name)), faults_(faults) {}

  const TomlNode* find(std::string_view key);
  // A node of another kind is a fault, and null.
  const TomlNode* find(std::string_view key, TomlNode::Kind expected);
  // Notes a fault at the table where the key is absent.
  bool require(std::string_view key, std::string hint);

  const TomlNode* text(std::string_view key, std::string& out);
  const TomlNode* boolean(std::string_view key, bool& out);
  const TomlNode* integer(std::string_view key, int64_t low, int64_t high, int& out);
  const TomlNode* number(std::string_view key, double low, double high, double& out);
  // "1%" or 0.01
  const TomlNode* fraction(std::string_view key, double low, double high, double& out);
  const TomlNode* duration(std::string_view key, std::chrono::nanoseconds& out);
  const TomlNode* bytes(std::string_view key, uint64_t& out);
  // The same of at least `low`.
  const TomlNode* bytes(std::string_view key, uint64_t low, uint64_t& out);
  // Arguments of a command: each may be empty.
  const TomlNode* arguments(std::string_view key, std::vector<std::string>& out, std::vector<SourceSpot>* spots = nullptr);
  // None of them is empty.
  const TomlNode* texts(std::string_view key, std::vector<std::string>& out,
                        std::vector<SourceSpot>* spots = nullptr);
  // One of the words; its index goes to `out`.
  const TomlNode* word(std::string_view key, const std::vector<std::string_view>& words, size_t& out);
  const TomlNode* table(std::string_view key);

  // Call once, after all keys were asked for.
  void finish();

  const std::string& name() const { return name_; }
  const SourceSpot& spot() const { return table_.spot; }
  Faults& faults() { return faults_; }

 private:
  const TomlNode& table_;
  std::string name_;
  Faults& faults_;
  std::vector<std::string_view> known_;
};

// "'replicates' is a string, expected an integer", with a hint where the fix is plain.
void wrong_type(Faults& faults, std::string_view key, const TomlNode& value, TomlNode::Kind expected);

// "'wall' is none of a, b, c", with "did you mean".
void unknown_word(Faults& faults, const SourceSpot& spot, std::string_view what, std::string_view word,
                  const std::vector<std::string_view>& words);

}  // namespace stab::toml
