// parse_plan: TOML text -> Plan, or every fault found, up to a limit, each with its place and a hint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/toml/diagnostic.h"
#include "plan/plan.h"
#include "plan/schedule.h"

namespace stab::plan {

// What there is at a path, links followed; what may not be looked at is absent. Of two that have a name the later kind is meant:
// it serves better, whatever is wanted.
enum class FileKind { kAbsent, kOther, kDirectory, kFile, kProgram };  // kProgram: a regular file that may be executed

// What the parser asks of the world. Paths are as written in the plan.
class FileLookup {
 public:
  virtual ~FileLookup() = default;
  virtual FileKind look(const std::string& path) const = 0;
  // A command by bare name.
  virtual bool is_in_path(const std::string& name) const = 0;
};

// Looks below `directory` (the plan's own) on the real file system.
class RealFiles final : public FileLookup {
 public:
  explicit RealFiles(std::string directory) : directory_(std::move(directory)) {}
  FileKind look(const std::string& path) const override;
  bool is_in_path(const std::string& name) const override;

 private:
  std::string resolve(const std::string& path) const;
  std::string directory_;
};

struct ParseOptions {
  size_t max_errors = 20;               // then "too many errors"
  const FileLookup* files = nullptr;    // null: existence is not checked
  bool stored = false;                  // it was accepted once, maybe before there were all of today's rules
  int schedule_version = kScheduleVersion;  // that a stored one was expanded with
};

struct Parsed {
  std::optional<Plan> plan;             // empty when there is an error
  std::vector<toml::Diagnostic> errors;
  std::vector<toml::Diagnostic> warnings;
};

// `path` is used in messages and kept in Plan::path; the file is not opened.
Parsed parse_plan(std::string_view text, const std::string& path, const ParseOptions& options = {});

// Reads the file and parses it, checking existence relative to its directory. An Error only where the file
// can't be read.
Result<Parsed> load_plan(const std::string& path);

}  // namespace stab::plan
