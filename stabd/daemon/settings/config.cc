// The configuration is read as plans are: every fault at its place with a hint, unknown keys are faults, all of
// them at once. Parsing is pure except for names of users, which it looks up through a function.
#include "stabd/daemon/settings/config.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/unique_fd.h"
#include "plan/check.h"
#include "plan/limits.h"
#include "plan/toml/section.h"
#include "plan/toml/toml_reader.h"

namespace stab::daemon {
namespace {

using toml::Faults;
using toml::Section;
using toml::TomlNode;

constexpr size_t kMaxErrors = 20;
// A configuration is a page; whatever is larger is something else.
constexpr off_t kMaxBytes = 1 << 20;
constexpr std::chrono::hours kLongestNotify{1};

const std::vector<std::string_view> kLogFormats = {"auto", "text", "json", "journal"};

const std::vector<std::string_view> kDuringTrials = {"live", "quiet", "off"};

// Like Section::text, but of a path that means the same from everywhere.
void take_absolute_path(Section& section, std::string_view key, std::string& out) {
  const TomlNode* node = section.text(key, out);
  if (node && (out.empty() || out[0] != '/'))
    section.faults().error(node->spot, "'" + std::string(key) + "' is '" + out + "', expected an absolute path",
                           "a daemon has no directory of its own; begin it with '/'");
}

void parse_quota(Section& section, Quota& quota) {
  section.integer("experiments", 0, 1'000'000, quota.experiments);
  section.integer("trials", 0, 1'000'000'000, quota.trials);
  section.integer("priority", kLowestPriority, kHighestPriority, quota.priority);
  section.bytes("disk", quota.disk_bytes);
  section.integer("stored_experiments", 0, 1'000'000, quota.stored_experiments);
  section.integer("all_trials", 0, 2'000'000'000, quota.all_trials);
  section.bytes("stored", quota.stored_bytes);
  if (const TomlNode* node = section.duration("wall_time", quota.wall_time); node && quota.wall_time.count() < 0)
    section.faults().error(node->spot, "'wall_time' is '" + node->text + "', expected no less than nothing");
}

void parse_group(Section& section, std::string_view key, const GroupLookup& groups, Group& group) {
  const TomlNode* node = section.text(key, group.name);
  if (!node) return;
  group.gid = groups(group.name);
  if (!group.gid)
    section.faults().error(node->spot, "there is no group '" + group.name + "'", "make it with 'groupadd " + group.name + "'");
}

void parse_policy(const TomlNode& table, Faults& faults, const GroupLookup& groups, Policy& policy) {
  Section section(table, "[policy]", faults);
  parse_group(section, "submitters", groups, policy.submitters);
  parse_group(section, "knobs", groups, policy.knobs);
  parse_group(section, "operators", groups, policy.operators);
  section.finish();
}

void parse_user(const TomlNode& node, Faults& faults, const UserLookup& users, Config& config) {
  Section section(node, "[[user]]", faults);
  Quota quota = config.quota;
  std::string name;
  const TomlNode* name_node = section.text("name", name);
  int number = -1;
  const TomlNode* number_node = section.integer("uid", 0, 0x7fffffff, number);
  parse_quota(section, quota);
  section.finish();
  if ((name_node != nullptr) == (number_node != nullptr)) {
    faults.error(node.spot, "[[user]] wants either a name or a uid", "such as name = \"alice\"");
    return;
  }
  std::optional<uint32_t> uid;
  if (number_node) uid = static_cast<uint32_t>(number);
  if (name_node) uid = users(name);
  if (!uid) {
    faults.error(name_node->spot, "there is no user '" + name + "'", "give the number: uid = 1000");
    return;
  }
  if (!config.users.emplace(*uid, quota).second)
    faults.error(node.spot, "user " + std::to_string(*uid) + " has a [[user]] already");
}

void parse_daemon(const TomlNode& table, Faults& faults, Config& config) {
  Section section(table, "[daemon]", faults);
  take_absolute_path(section, "database", config.database);
  take_absolute_path(section, "socket", config.socket);
  section.text("socket_group", config.socket_group);
  section.text("user", config.user);
  take_absolute_path(section, "broker", config.broker);
  section.boolean("root_plans", config.root_plans);
  section.boolean("web", config.web);
  section.integer("connections", 2 * Connections::kReserved, 4096, config.connections.all);
  section.integer("connections_of_user", 1, 4096, config.connections.of_user);
  section.finish();
}

void parse_log(const TomlNode& table, Faults& faults, Config& config) {
  Section section(table, "[log]", faults);
  size_t word = 0;
  if (section.word("format", kLogFormats, word)) config.log = static_cast<LogFormat>(word);
  section.finish();
}

void parse_web(const TomlNode& table, Faults& faults, Config& config) {
  Section section(table, "[web]", faults);
  size_t word = 0;
  const TomlNode* node = section.word("during_trials", kDuringTrials, word);
  if (node) config.during_trials = static_cast<DuringTrials>(word);
  section.finish();
  if (node && !config.web)
    faults.error(node->spot, "'during_trials' is about a page that is not served", "take web = false out of [daemon], or this");
}

void parse_notify(const TomlNode& table, Faults& faults, Config& config) {
  Section section(table, "[notify]", faults);
  if (const TomlNode* node = section.texts("command", config.notify);
      node && (config.notify.empty() || config.notify[0][0] != '/'))
    faults.error(node->spot, "'command' does not begin with an absolute path", "such as [\"/usr/local/bin/tell\"]");
  const TomlNode* timeout = section.duration("timeout", config.notify_timeout);
  if (timeout && (config.notify_timeout.count() <= 0 || config.notify_timeout > kLongestNotify))
    faults.error(timeout->spot, "'timeout' is '" + timeout->text + "', expected more than nothing and at most 1h",
                 "no trial runs meanwhile");
  section.finish();
}

void parse_retention(const TomlNode& table, Faults& faults, Config& config) {
  Section section(table, "[retention]", faults);
  section.duration("experiments", config.retention.experiments);
  section.duration("builds", config.retention.builds);
  section.bytes("disk", config.retention.disk_bytes);
  section.bytes("free", config.retention.free_bytes);
  section.finish();
}

// 0 lifts a limit, so less than a launcher needs is a slip of the hand only above it.
void parse_limits(const TomlNode& table, Faults& faults, Config& config) {
  Section section(table, "[limits]", faults);
  uint64_t bytes = 0;
  if (const TomlNode* node = section.bytes("memory", bytes)) {
    if (bytes > 0 && bytes < plan::kLeastMemoryBytes)
      faults.error(node->spot, "'memory' is " + std::to_string(bytes) + " bytes, expected at least " +
                                   std::to_string(plan::kLeastMemoryBytes) + ", or 0 for no limit");
    config.limits.memory_bytes = bytes;
  }
  int processes = 0;
  if (section.integer("processes", 0, plan::kMostProcesses, processes)) config.limits.processes = processes;
  if (const TomlNode* node = section.duration("timeout", config.limits.timeout); node && config.limits.timeout.count() < 0)
    faults.error(node->spot, "'timeout' is '" + node->text + "', expected no less than nothing", "0 is no limit");
  section.finish();
}

void parse_users(const TomlNode& array, Faults& faults, const UserLookup& users, Config& config) {
  if (array.kind != TomlNode::Kind::kArray) return toml::wrong_type(faults, "user", array, TomlNode::Kind::kArray);
  for (const TomlNode& item : array.items) {
    if (item.kind == TomlNode::Kind::kTable) {
      parse_user(item, faults, users, config);
    } else {
      toml::wrong_type(faults, "user[]", item, TomlNode::Kind::kTable);
    }
  }
}

std::string limit_text(uint64_t bytes) { return bytes == 0 ? "no limit" : std::to_string(bytes) + " bytes"; }

std::string age_text(std::chrono::nanoseconds age) { return age.count() == 0 ? "for ever" : plan::duration_text(age); }

std::string quota_text(const Quota& quota) {
  return std::to_string(quota.experiments) + " experiments, " + std::to_string(quota.trials) + " trials each, priority up to " +
         std::to_string(quota.priority) + ", disk: " + limit_text(quota.disk_bytes) + "; stored: " +
         std::to_string(quota.stored_experiments) + " experiments, " + std::to_string(quota.all_trials) + " trials, " +
         limit_text(quota.stored_bytes) +
         (quota.wall_time.count() == 0 ? "" : "; each has the machine for " + plan::duration_text(quota.wall_time));
}

std::string group_text(const Group& group, const char* none) { return group.name.empty() ? none : "group " + group.name; }

}  // namespace

const Quota& Config::quota_of(uint32_t uid) const {
  const auto own = users.find(uid);
  return own == users.end() ? quota : own->second;
}

std::string_view name(DuringTrials during_trials) { return kDuringTrials[static_cast<size_t>(during_trials)]; }

std::optional<uint32_t> uid_of(const std::string& name) {
  const passwd* user = ::getpwnam(name.c_str());
  return user != nullptr ? std::optional<uint32_t>(user->pw_uid) : std::nullopt;
}

std::optional<uint32_t> gid_of(const std::string& name) {
  const group* found = ::getgrnam(name.c_str());
  return found != nullptr ? std::optional<uint32_t>(found->gr_gid) : std::nullopt;
}

ParsedConfig parse_config(std::string_view text, const std::string& path, const UserLookup& users, const GroupLookup& groups) {
  ParsedConfig parsed;
  auto read = toml::read_toml(text, path);
  if (auto* fault = std::get_if<toml::Diagnostic>(&read)) {
    parsed.errors.push_back(std::move(*fault));
    return parsed;
  }
  Faults faults(text, path, kMaxErrors);
  Config config;
  Section root(std::get<TomlNode>(read), "the file", faults);
  const std::pair<const char*, void (*)(const TomlNode&, Faults&, Config&)> tables[] = {
      {"daemon", parse_daemon},
      {"web", parse_web},
      {"log", parse_log},
      {"notify", parse_notify},
      {"retention", parse_retention},
      {"limits", parse_limits},
      {"quota", [](const TomlNode& table, Faults& of, Config& into) {
         Section section(table, "[quota]", of);
         parse_quota(section, into.quota);
         section.finish();
       }}};
  for (const auto& [name, parse] : tables)
    if (const TomlNode* table = root.table(name)) parse(*table, faults, config);
  if (const TomlNode* table = root.table("policy")) parse_policy(*table, faults, groups, config.policy);
  // After [quota], which is what a user's own starts from.
  if (const TomlNode* array = root.find("user")) parse_users(*array, faults, users, config);
  root.finish();
  parsed.errors = faults.take_errors();
  if (parsed.errors.empty()) parsed.config = std::move(config);
  return parsed;
}

Result<ParsedConfig> load_config(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0) return system_error("open config '" + path + "'", errno);
  if (!S_ISREG(info.st_mode) || info.st_size > kMaxBytes) return bad_input("config '" + path + "' is no file of at most 1 MiB");
  if ((info.st_uid != 0 && info.st_uid != ::geteuid()) || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error{ErrorCode::kDenied,
                 "config '" + path + "' may be written by others than root and us, and it names commands; "
                 "chown it to root and chmod it to 644", {}};
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t got = 0;
  while (got < text.size()) {
    const ssize_t n = ::pread(fd.get(), text.data() + got, text.size() - got, static_cast<off_t>(got));
    if (n < 0) return system_error("read config '" + path + "'", errno);
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  text.resize(got);
  return parse_config(text, path, uid_of);
}

std::string default_config() {
  if (::geteuid() == 0) return "/etc/stab/stabd.toml";
  if (const char* config = ::getenv("XDG_CONFIG_HOME"); config != nullptr && config[0] == '/')
    return std::string(config) + "/stab/stabd.toml";
  const char* home = ::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.config/stab/stabd.toml" : std::string();
}

engine::LabLimits lab_limits(const ConfiguredLimits& limits, const host::Roots& roots) {
  engine::LabLimits lab{engine::default_limits(roots), limits.memory_bytes || limits.processes};
  if (limits.memory_bytes) lab.most.memory_bytes = *limits.memory_bytes;
  if (limits.processes) lab.most.processes = static_cast<uint64_t>(*limits.processes);
  lab.timeout = limits.timeout;
  return lab;
}

std::string describe(const Config& config) {
  std::string text = "plans of root: " + std::string(config.root_plans ? "run" : "refused") + "\n";
  text += "page of the lab: " +
          (config.web ? "served, while trials run: " + std::string(name(config.during_trials)) : std::string("not served")) +
          "\n";
  text += "log: " + std::string(kLogFormats[static_cast<size_t>(config.log)]) + "\n";
  text += "told when an experiment ends: " + (config.notify.empty() ? "no program" : config.notify[0]) + "\n";
  const Retention& keep = config.retention;
  text += "kept: experiments " + age_text(keep.experiments) + ", builds " + age_text(keep.builds) + ", disk: " +
          limit_text(keep.disk_bytes) + ", left free: " + std::to_string(keep.free_bytes) + " bytes\n";
  const host::TreeLimits most = lab_limits(config.limits, host::Roots()).most;
  text += "a trial may use: " + (most.memory_bytes == 0 ? "any memory" : host::bytes_text(most.memory_bytes) + " of memory") +
          ", " + (most.processes == 0 ? "any number of" : std::to_string(most.processes)) + " processes, and take " +
          (config.limits.timeout.count() == 0 ? "any time" : "up to " + plan::duration_text(config.limits.timeout)) + "\n";
  const Policy& policy = config.policy;
  text += "may submit: " + group_text(policy.submitters, "who may connect") + "; may turn shared knobs: " +
          group_text(policy.knobs, "root") + "; operators: " + group_text(policy.operators, "root") + "\n";
  text += "connections: " + std::to_string(config.connections.all) + ", " + std::to_string(config.connections.of_user) +
          " of one user\n";
  text += "each user: " + quota_text(config.quota) + "\n";
  for (const auto& [uid, quota] : config.users) text += "user " + std::to_string(uid) + ": " + quota_text(quota) + "\n";
  return text;
}

}  // namespace stab::daemon
