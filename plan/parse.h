// parse_plan: TOML text -> Plan, or every fault found, up to a limit, each with its place and a hint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "toml/diagnostic.h"
#include "plan/plan.h"

namespace stab::plan {

// What the parser asks of the world: do named files exist? Paths are as written in the plan.
class FileLookup {
 public:
  virtual ~FileLookup() = default;
  virtual bool file_exists(const std::string& path) const = 0;
  virtual bool directory_exists(const std::string& path) const = 0;
  // A command by bare name, searched in PATH, or by path.
  virtual bool command_exists(const std::string& name) const = 0;
};

// Looks below `directory` (the plan's own) on the real file system.
class RealFiles final : public FileLookup {
 public:
  explicit RealFiles(std::string directory) : directory_(std::move(directory)) {}
  bool file_exists(const std::string& path) const override;
  bool directory_exists(const std::string& path) const override;
  bool command_exists(const std::string& name) const override;

 private:
  std::string resolve(const std::string& path) const;
  std::string directory_;
};

struct ParseOptions {
  size_t max_errors = 20;               // then "too many errors"
  const FileLookup* files = nullptr;    // null: existence is not checked
  bool stored = false;                  // it was accepted once, maybe before there were all of today's rules
};

struct Parsed {
  std::optional<Plan> plan;             // empty when there is an error
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings;
};

// `path` is used in messages and kept in Plan::path; the file is not opened.
Parsed parse_plan(std::string_view text, const std::string& path, const ParseOptions& options = {});

// Reads the file and parses it, checking existence relative to its directory. An Error only where the file
// can't be read.
Result<Parsed> load_plan(const std::string& path);

}  // namespace stab::plan
