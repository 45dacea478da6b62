// [[program]] and its [[program.workload]]s: how to build, run and check what is measured.
//
// Keys of a workload that a program sets too (stdin, cwd, env, warmup, timeout, expect) are the program's
// defaults for its workloads. A program without workloads is its own only one.
#include <algorithm>

#include "base/wording.h"
#include "plan/input_names.h"
#include "plan/limits.h"
#include "plan/parse_command.h"
#include "plan/parse_parts.h"
#include "plan/placeholder.h"
#include "plan/short_plan.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

// Whether a part of the path is "..".
bool names_a_parent(std::string_view path) {
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

// Whether a treatment that the text names has a level with two dots, which may make a part "..".
bool has_level_with_a_parent(const std::string& text, const Plan& plan) {
  const Result<std::vector<Piece>> pieces = split_placeholders(text);
  if (!pieces) return false;
  for (const Piece& piece : *pieces) {
    const int index = piece.is_placeholder ? plan.factor_index(piece.text) : -1;
    if (index < 0) continue;
    for (const Level& level : plan.factors[static_cast<size_t>(index)].levels)
      if (level.value.find("..") != std::string::npos) return true;
  }
  return false;
}

void parse_env(const toml::TomlNode& table, ProgramContext& context, std::map<std::string, std::string>& env) {
  if (too_many(context.faults, table.spot, "env", table.entries.size(), kMaxVariables)) return;
  for (const toml::TomlEntry& entry : table.entries) {
    const std::string& name = entry.key;
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      context.faults.error(entry.key_spot, in_quotes(name) + " can't be the name of a variable");
      continue;
    }
    if (name.starts_with("STAB")) {
      context.faults.error(entry.key_spot, in_quotes(name) + " is set by the engine", "use [factors]");
      continue;
    }
    if (entry.value.kind != Kind::kString || entry.value.text.find('\0') != std::string::npos) {
      toml::wrong_type(context.faults, name, entry.value, Kind::kString);
      continue;
    }
    check_placeholders(entry.value.text, entry.value.spot, context);
    env[name] = entry.value.text;
  }
}

// Whether the program's directory is known only once there is a commit or a cell.
bool has_later_source(const Program& program) { return !program.source.git.empty() || has_placeholder(program.source.dir); }

FileKind kind_in_source(const std::string& path, const Program& program, const ProgramContext& context) {
  const std::string& dir = program.source.dir;
  return dir.empty() || path.starts_with('/') ? FileKind::kAbsent : context.files->look(dir + "/" + path);
}

// A path is one of the plan's directory or of the program's: what fits better is meant.
FileKind kind_of(const std::string& path, const Program& program, const ProgramContext& context) {
  return std::max(context.files->look(path), kind_in_source(path, program, context));
}

enum class Wanted { kFile, kFileOrDirectory };

// What a trial reads must exist now, unless the program's build may make it.
void check_file_exists(const std::string& path, const SourceSpot& spot, std::string_view what, Wanted wanted,
                       const Program& program, ProgramContext& context) {
  if (!context.files || !program.build.empty() || has_placeholder(path) || has_later_source(program)) return;
  const std::string named = std::string(what) + " " + in_quotes(path);
  switch (kind_of(path, program, context)) {
    case FileKind::kFile:
    case FileKind::kProgram: return;
    case FileKind::kDirectory:
      if (wanted == Wanted::kFileOrDirectory) return;
      return context.faults.error(spot, named + " is a directory", "name a file in it");
    case FileKind::kOther: return context.faults.error(spot, named + " is no regular file", "name a file that can be copied");
    case FileKind::kAbsent:
      return context.faults.error(spot, named + " does not exist", "paths are relative to the plan's directory");
  }
}

void parse_inputs(toml::Section& section, const Program& program, ProgramContext& context,
                  std::vector<std::string>& inputs) {
  std::vector<SourceSpot> spots;
  const toml::TomlNode* node = section.texts("inputs", inputs, &spots);
  if (!node || too_many(context.faults, node->spot, "inputs", inputs.size(), kMaxInputs)) return;
  InputNames names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_placeholders(inputs[i], spots[i], context);
    if (const std::string name = input_name(inputs[i]); name.empty() || name == "..")
      context.faults.error(spots[i], "input " + in_quotes(inputs[i]) + " has no name that a trial's directory could hold",
                           "name the directory itself");
    else if (const std::string why = names.why_not_beside(inputs[i]); !why.empty())
      context.faults.error(spots[i], why, "rename one, or name a directory that holds both");
    else
      check_file_exists(inputs[i], spots[i], "input", Wanted::kFileOrDirectory, program, context);
  }
}

// The keys that program and workload share.
void parse_shared(toml::Section& section, const Program& program, ProgramContext& context, Workload& out) {
  if (const toml::TomlNode* node = section.text("stdin", out.stdin_path)) {
    check_placeholders(out.stdin_path, node->spot, context);
    // prepare may make it; a device is none of the files that are looked for, and whoever opens it says which may be.
    if (program.prepare.empty() && !out.stdin_path.starts_with("/dev/"))
      check_file_exists(out.stdin_path, node->spot, "stdin", Wanted::kFile, program, context);
  }
  if (const toml::TomlNode* node = section.text("cwd", out.cwd)) {
    check_placeholders(out.cwd, node->spot, context);
    if (names_a_parent(out.cwd) || has_level_with_a_parent(out.cwd, context.plan))
      context.faults.error(node->spot, "cwd " + in_quotes(out.cwd) + " is not inside the trial's directory",
                           "name one below it, or an absolute path, where trials run in what is there");
  }
  if (const toml::TomlNode* env = section.table("env")) parse_env(*env, context, out.env);
  section.integer("warmup", 0, 1000, out.warmup);
  if (const toml::TomlNode* node = section.duration("timeout", out.timeout); node && out.timeout.count() <= 0)
    context.faults.error(node->spot, "a timeout of 0 ends every trial at once");
  if (const toml::TomlNode* expect = section.table("expect")) parse_expect(*expect, context.faults, out.expect);
  if (const toml::TomlNode* metrics = section.table("metrics")) parse_metrics(*metrics, context.faults, out.metrics);
  if (out.metrics && out.metrics->file.empty() && (out.expect.same_stdout || out.expect.stdout_sha256))
    context.faults.error(section.spot(), "times are read from standard output, so it can't be the same in every trial",
                         "leave out same_stdout and stdout_sha256, or let the program write the times to a file");
}

// A command that nothing builds must exist now.
void check_command_exists(const Command& run, const SourceSpot& spot, const Program& program, ProgramContext& context) {
  const std::string& name = run.argv[0];
  if (!context.files || !program.build.empty() || has_placeholder(name) || has_later_source(program)) return;
  const bool bare = name.find('/') == std::string::npos;
  if (bare && context.files->is_in_path(name)) return;
  const std::string named = "program " + in_quotes(name);
  switch (bare ? kind_in_source(name, program, context) : kind_of(name, program, context)) {
    case FileKind::kProgram: return;
    case FileKind::kFile:
      return context.faults.error(spot, named + " is not executable", "chmod +x it, or name what reads it: run = [\"sh\", " +
                                                                          ("\"" + name + "\"]"));
    case FileKind::kDirectory: return context.faults.error(spot, named + " is a directory", "name a program in it");
    case FileKind::kOther: return context.faults.error(spot, named + " is no regular file", "name a program");
    case FileKind::kAbsent:
      return context.faults.error(spot, named + " does not exist",
                                  bare ? "it is not in PATH"
                                       : "add build = \"...\", or check the path, which is relative to the plan's directory");
  }
}

void parse_source(toml::Section& section, ProgramContext& context, Source& source) {
  const toml::TomlNode* node = section.find("source");
  if (!node) return;
  SourceSpot dir_spot = node->spot, git_spot = node->spot;
  if (node->kind == Kind::kString) {
    if (!section.text("source", source.dir)) return;
  } else if (node->kind == Kind::kTable) {
    toml::Section inner(*node, "source", context.faults);
    if (const toml::TomlNode* dir = inner.text("dir", source.dir)) dir_spot = dir->spot;
    if (const toml::TomlNode* git = inner.text("git", source.git)) {
      git_spot = git->spot;
      check_placeholders(source.git, git->spot, context);
    }
    const toml::TomlNode* revision = inner.text("revision", source.revision);
    if (revision) check_placeholders(source.revision, revision->spot, context);
    const toml::TomlNode* submodules = inner.boolean("submodules", source.submodules);
    std::vector<SourceSpot> spots;
    const toml::TomlNode* patches = inner.texts("patches", source.patches, &spots);
    inner.finish();
    if (patches && too_many(context.faults, patches->spot, "patches", source.patches.size(), kMaxPatches)) return;
    for (size_t i = 0; i < source.patches.size(); ++i)
      check_placeholders(source.patches[i], spots[i], context);
    if (source.dir.empty() == source.git.empty())
      context.faults.error(node->spot, "source needs either 'dir' or 'git'",
                           "write source = { git = \"...\", revision = \"v1.0\" }");
    if (!source.git.empty() && !revision)
      context.faults.error(node->spot, "a git source needs its revision", "add revision = \"v1.0\"");
    if (source.git.empty() && revision)
      context.faults.error(revision->spot, "'revision' belongs to a git source");
    if (source.git.empty() && submodules)
      context.faults.error(submodules->spot, "'submodules' belongs to a git source");
  } else {
    toml::wrong_type(context.faults, "source", *node, Kind::kString);
    return;
  }
  // Everything that is no URL is a path (stabd/engine/build/builds.cc): of a repository, or of a bundle of git's own.
  if (context.files && !source.git.empty() && source.git.find("://") == std::string::npos && !has_placeholder(source.git) &&
      context.files->look(source.git) == FileKind::kAbsent)
    context.faults.error(git_spot, "git repository " + in_quotes(source.git) + " does not exist",
                         "paths are relative to the plan's directory; another machine's is a URL: ssh://HOST/PATH");
  if (source.dir.empty()) return;
  check_placeholders(source.dir, dir_spot, context);
  if (!context.files || has_placeholder(source.dir)) return;
  const FileKind kind = context.files->look(source.dir);
  if (kind != FileKind::kDirectory)
    context.faults.error(
        dir_spot,
        "source directory " + in_quotes(source.dir) + (kind == FileKind::kAbsent ? " does not exist" : " is no directory"),
        "paths are relative to the plan's directory");
}

// What a workload begins with.
uint64_t copied_bytes(const Workload& workload) {
  uint64_t bytes = sizeof workload + workload.stdin_path.size() + workload.cwd.size();
  for (const std::string& word : workload.run.argv) bytes += sizeof word + word.size();
  for (const auto& [name, value] : workload.env) bytes += 2 * sizeof name + 64 + name.size() + value.size();
  for (const ExpectedFile& file : workload.expect.files) bytes += sizeof file + file.path.size();
  if (workload.metrics)
    for (const Metrics::Family& family : workload.metrics->families)
      for (const std::string& pattern : family.patterns) bytes += sizeof family + sizeof pattern + pattern.size();
  return bytes;
}

void parse_workload(const toml::TomlNode& table, const Program& program, const Workload& defaults, bool shell,
                    ProgramContext& context, std::set<std::string>& names, std::vector<Workload>& out) {
  toml::Faults& faults = context.faults;
  toml::Section section(table, "[[program.workload]]", faults);
  Workload workload = defaults;
  workload.inputs.clear();
  workload.spot = table.spot;
  section.require("name", "write name = \"fib\"");
  if (const toml::TomlNode* name = section.text("name", workload.name);
      name && check_name(faults, name->spot, "workload name", workload.name)) {
    if (!names.insert(workload.name).second)
      faults.error(name->spot, "workload " + in_quotes(workload.name) + " is defined twice");
  }
  const toml::TomlNode* run = parse_command(section, "run", shell, context, workload.run);
  std::vector<std::string> args;
  std::vector<SourceSpot> spots;
  const toml::TomlNode* more = section.arguments("args", args, &spots);
  if (run && more) faults.error(more->spot, "a workload has 'run' or 'args', not both");
  if (more && shell && !run && !defaults.run.empty())
    faults.error(more->spot, "'args' can't be added to a shell command", "give the workload its own run");
  for (size_t i = 0; i < args.size(); ++i) check_placeholders(args[i], spots[i], context, true);
  if (!run) workload.run.argv.insert(workload.run.argv.end(), args.begin(), args.end());
  if (!run && defaults.run.empty() && !section.find("run"))
    faults.error(table.spot, "workload has no command", "add run = [\"./prog\", \"input\"]");
  parse_inputs(section, program, context, workload.inputs);
  parse_shared(section, program, context, workload);
  section.finish();
  if (run) check_command_exists(workload.run, run->spot, program, context);
  out.push_back(std::move(workload));
}

void parse_program(const toml::TomlNode& table, ProgramContext& context, Plan& plan) {
  toml::Faults& faults = context.faults;
  toml::Section section(table, "[[program]]", faults);
  Program program;
  program.spot = table.spot;
  program.name = name_of_program(table);
  const toml::TomlNode* name = section.text("name", program.name);
  if (!name || check_name(faults, name->spot, "program name", program.name)) {
    for (const Program& other : plan.programs)
      if (other.name == program.name)
        faults.error(name ? name->spot : table.spot, "program " + in_quotes(program.name) + " is defined twice",
                     name ? "programs that share a build are workloads: [[program.workload]]"
                          : "both are called by what they run: give one a name; programs that share a build are workloads");
  }
  bool shell = false;
  section.boolean("shell", shell);
  parse_source(section, context, program.source);
  const toml::TomlNode* build = parse_command(section, "build", shell, context, program.build);
  section.duration("build_timeout", program.build_timeout);
  parse_inputs(section, program, context, program.inputs);
  parse_command(section, "prepare", shell, context, program.prepare);
  parse_command(section, "cleanup", shell, context, program.cleanup);
  section.boolean("preload_heap", program.preload_heap);
  section.boolean("preload_libraries", program.preload_libraries);
  section.bytes("stack_limit", program.stack_limit_bytes);
  section.bytes("output_limit", program.output_limit_bytes);
  if (const toml::TomlNode* script = section.text("layout_script", program.layout_script)) program.script_spot = script->spot;

  Workload defaults;
  defaults.name = program.name;
  defaults.spot = table.spot;
  const toml::TomlNode* run = parse_command(section, "run", shell, context, defaults.run);
  parse_shared(section, program, context, defaults);
  const toml::TomlNode* workloads = section.find("workload");
  if (!run && !workloads && !section.find("run"))
    faults.error(table.spot, "[[program]] has no 'run'", "write run = [\"./prog\", \"input\"]");
  section.finish();
  if (run) check_command_exists(defaults.run, run->spot, program, context);
  if (plan.link.seeds > 0 && !build && !section.find("build"))
    faults.error(table.spot, "link seeds need a build of " + in_quotes(program.name),
                 "add build = \"...\"; it gets STAB_LINK_SEED");

  if (!workloads) {
    program.workloads.push_back(std::move(defaults));
  } else if (workloads->kind != Kind::kArray || workloads->items.empty()) {
    faults.error(workloads->spot, "'workload' is " + std::string(toml::kind_name(workloads->kind)) +
                                      ", expected tables",
                 "write [[program.workload]]");
  } else if (const size_t count = workloads->items.size(); count > kMaxWorkloads) {
    too_many(faults, workloads->spot, "workload", count, kMaxWorkloads);
  } else if (const uint64_t bytes = copied_bytes(defaults) * count; bytes > kMaxCopiedBytes) {
    faults.error(workloads->spot, "what " + std::to_string(count) + " workloads take over from their program is " +
                                      std::to_string(bytes) + " bytes, at most " + std::to_string(kMaxCopiedBytes),
                 "shorten run, env or expect of the program");
  } else {
    std::set<std::string> names;
    for (const toml::TomlNode& item : workloads->items) {
      if (item.kind != Kind::kTable) {
        toml::wrong_type(faults, "workload[]", item, Kind::kTable);
        continue;
      }
      parse_workload(item, program, defaults, shell, context, names, program.workloads);
    }
  }
  plan.programs.push_back(std::move(program));
}

}  // namespace

void parse_programs(const toml::TomlNode& array, const FileLookup* files, toml::Faults& faults, Plan& plan,
                    std::set<std::string>& used) {
  if (array.kind != Kind::kArray) {
    faults.error(array.spot, "'program' is " + std::string(toml::kind_name(array.kind)) + ", expected tables",
                 "write [[program]]");
    return;
  }
  ProgramContext context{faults, plan, files, used};
  if (too_many(faults, array.spot, "program", array.items.size(), kMaxPrograms)) return;
  size_t workloads = 0;
  for (const toml::TomlNode& item : array.items) {
    if (item.kind != Kind::kTable) {
      toml::wrong_type(faults, "program[]", item, Kind::kTable);
      continue;
    }
    parse_program(item, context, plan);
    workloads += plan.programs.back().workloads.size();
    if (too_many(faults, item.spot, "workload", workloads, kMaxWorkloads)) return;
  }
}

}  // namespace stab::plan
