// What a run gives: the checks that it must pass (expect), and the times that it prints (metrics).
#include <algorithm>

#include "base/wording.h"
#include "plan/limits.h"
#include "plan/metrics/metrics.h"
#include "plan/parse_parts.h"
#include "plan/pattern.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

// More than anybody reads; what it may take compiled is plan/pattern.cc's.
constexpr size_t kMaxRegexBytes = 500;

bool is_sha256(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void parse_hash(toml::Section& section, std::string_view key, std::optional<std::string>& out) {
  std::string text;
  const toml::TomlNode* node = section.text(key, text);
  if (!node) return;
  if (!is_sha256(text)) {
    section.faults().error(node->spot, in_quotes(key) + " is no SHA-256", "64 lower-case hex digits, as sha256sum prints");
    return;
  }
  out = text;
}

void parse_stdout_regex(toml::Section& section, Expect& expect) {
  std::string text;
  const toml::TomlNode* node = section.text("stdout_regex", text);
  if (!node) return;
  if (text.size() > kMaxRegexBytes) {
    section.faults().error(node->spot, "'stdout_regex' is longer than " + std::to_string(kMaxRegexBytes) + " bytes",
                           "use stdout_sha256");
    return;
  }
  if (const Status fine = check_pattern(text); !fine) {
    section.faults().error(node->spot, "'stdout_regex': " + fine.error().message,
                           "the syntax is RE2's, see docs/reference/plan.md");
    return;
  }
  expect.stdout_regex = text;
}

// One status, or a list of those that a run may end with.
void parse_exit(toml::Section& section, std::vector<int>& out) {
  constexpr int kMost = 255;
  const toml::TomlNode* node = section.find("exit");
  if (!node) return;
  const bool is_list = node->kind == Kind::kArray;
  if (!is_list && node->kind != Kind::kInteger) return toml::wrong_type(section.faults(), "exit", *node, Kind::kInteger);
  if (is_list && node->items.empty())
    return section.faults().error(node->spot, "'exit' is an empty list, so no run could pass",
                                  "write exit = 0, or exit = [0, 1]");
  std::vector<int> statuses;
  for (const toml::TomlNode& item : is_list ? node->items : std::vector<toml::TomlNode>{*node}) {
    if (item.kind != Kind::kInteger) return toml::wrong_type(section.faults(), "exit", item, Kind::kInteger);
    const std::string number = std::to_string(item.integer);
    if (item.integer < 0 || item.integer > kMost)
      return section.faults().error(item.spot, "'exit' is " + number + ", expected 0 to " + std::to_string(kMost),
                                    "a run that a signal ends never passes");
    if (std::find(statuses.begin(), statuses.end(), item.integer) != statuses.end())
      return section.faults().error(item.spot, "'exit' has " + number + " twice", "write each status once");
    statuses.push_back(static_cast<int>(item.integer));
  }
  out = std::move(statuses);
}

// "BM_Sort*", or a list of such.
bool parse_patterns(const toml::TomlEntry& entry, toml::Faults& faults, std::vector<std::string>& out) {
  const toml::TomlNode& value = entry.value;
  std::vector<const toml::TomlNode*> items;
  if (value.kind == Kind::kArray) {
    for (const toml::TomlNode& item : value.items) items.push_back(&item);
  } else {
    items.push_back(&value);
  }
  if (too_many(faults, value.spot, entry.key, items.size(), kMaxFamilies)) return false;
  for (const toml::TomlNode* item : items) {
    if (item->kind != Kind::kString || item->text.empty() || item->text.find('\0') != std::string::npos) {
      faults.error(item->spot, "family " + in_quotes(entry.key) + " has no pattern", "write names of benchmarks: \"BM_Sort*\"");
      return false;
    }
    out.push_back(item->text);
  }
  if (out.empty())
    faults.error(value.spot, "family " + in_quotes(entry.key) + " has no pattern", "write names of benchmarks: \"BM_Sort*\"");
  return !out.empty();
}

}  // namespace

void parse_expect(const toml::TomlNode& table, toml::Faults& faults, Expect& expect) {
  toml::Section section(table, "expect", faults);
  expect = {};
  parse_exit(section, expect.exit);
  parse_hash(section, "stdout_sha256", expect.stdout_sha256);
  parse_hash(section, "stderr_sha256", expect.stderr_sha256);
  parse_stdout_regex(section, expect);
  section.boolean("same_stdout", expect.same_stdout);
  if (const toml::TomlNode* files = section.table("files");
      files && !too_many(faults, files->spot, "files", files->entries.size(), kMaxExpectedFiles)) {
    for (const toml::TomlEntry& entry : files->entries) {
      if (entry.value.kind != Kind::kString || !is_sha256(entry.value.text)) {
        faults.error(entry.value.spot, "file " + in_quotes(entry.key) + " has no SHA-256",
                     "64 lower-case hex digits, as sha256sum prints");
        continue;
      }
      if (entry.key.empty() || entry.key[0] == '/' || entry.key.find("..") != std::string::npos) {
        faults.error(entry.key_spot, "file " + in_quotes(entry.key) + " is not inside the trial's directory");
        continue;
      }
      expect.files.push_back({entry.key, entry.value.text});
    }
  }
  section.finish();
}

void parse_metrics(const toml::TomlNode& table, toml::Faults& faults, std::optional<Metrics>& out) {
  toml::Section section(table, "metrics", faults);
  Metrics metrics;
  if (const toml::TomlNode* file = section.text("file", metrics.file);
      file && (metrics.file.empty() || metrics.file[0] == '/' || metrics.file.find("..") != std::string::npos))
    faults.error(file->spot, "file " + in_quotes(metrics.file) + " is not inside the trial's directory",
                 "leave the key out to read standard output");
  std::vector<std::string_view> words;
  for (const metrics::Format& format : metrics::formats()) words.push_back(format.name);
  size_t format = 0;
  section.require("format", "write format = \"google-benchmark\"");
  if (section.word("format", words, format)) metrics.format = std::string(words[format]);
  if (const toml::TomlNode* families = section.table("families");
      families && !too_many(faults, families->spot, "families", families->entries.size(), kMaxFamilies)) {
    for (const toml::TomlEntry& entry : families->entries) {
      Metrics::Family family{entry.key, {}};
      if (!check_name(faults, entry.key_spot, "family", entry.key)) continue;
      if (parse_patterns(entry, faults, family.patterns)) metrics.families.push_back(std::move(family));
    }
  }
  section.finish();
  out = std::move(metrics);
}

}  // namespace stab::plan
