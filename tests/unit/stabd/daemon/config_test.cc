// Every key of the daemon's configuration with its meaning, and every kind of fault with place and hint. The file names
// commands that the daemon runs, so who may write to it matters as much.
#include "stabd/daemon/settings/config.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

std::optional<uint32_t> known_users(const std::string& name) {
  return name == "alice" ? std::optional<uint32_t>(1001) : std::nullopt;
}

std::optional<uint32_t> known_groups(const std::string& name) {
  return name == "lab" ? std::optional<uint32_t>(77) : std::nullopt;
}

std::string faults_of(std::string_view text) {
  const ParsedConfig parsed = parse_config(text, "c.toml", known_users, known_groups);
  EXPECT_EQ(parsed.config.has_value(), parsed.errors.empty());
  return toml::render(parsed.errors);
}

TEST(Config, NoTrialFitsIntoLessThanItsLauncher) {
  EXPECT_NE(
      faults_of("[limits]\nmemory = \"1MiB\"\n").find("'memory' is 1048576 bytes, expected at least 4194304, or 0 for no limit"),
      std::string::npos);
  EXPECT_EQ(faults_of("[limits]\nmemory = 0\n"), "");
  EXPECT_NE(faults_of("[limits]\nprocesses = -1\n"), "");
}

TEST(Config, NothingHasTheMachineForEver) {
  const auto parsed = [](const char* text) { return parse_config(text, "c.toml", known_users).config.value().limits; };
  EXPECT_EQ(parsed("").timeout, hours(24));
  EXPECT_EQ(lab_limits(parsed(""), host::Roots()).timeout, hours(24));
  EXPECT_EQ(parsed("[limits]\ntimeout = \"2h\"\n").timeout, hours(2));
  EXPECT_EQ(parsed("[limits]\ntimeout = \"0s\"\n").timeout, hours(0));
  EXPECT_NE(faults_of("[limits]\ntimeout = \"-1s\"\n"), "");
}

TEST(Config, EveryKey) {
  const ParsedConfig parsed = parse_config(R"(
[daemon]
database = "/data/stab.db"
socket = "/run/stab/s"
socket_group = "lab"
root_plans = true
connections = 100
connections_of_user = 5
[policy]
submitters = "lab"
operators = "lab"
[web]
during_trials = "quiet"
[log]
format = "json"
[notify]
command = ["/usr/local/bin/tell", "lab"]
timeout = "5s"
[retention]
experiments = "2400h"
builds = "240h"
disk = "20GiB"
free = "1GiB"
[limits]
memory = "8GiB"
processes = 0
[quota]
experiments = 5
trials = 100000
priority = 3
disk = "2GiB"
stored_experiments = 20
all_trials = 500000
stored = "1GiB"
wall_time = "48h"
[[user]]
name = "alice"
priority = 9
wall_time = "1h"
[[user]]
uid = 42
experiments = 0
)", "c.toml", known_users, known_groups);
  ASSERT_TRUE(parsed.config.has_value()) << toml::render(parsed.errors);
  const Config& config = *parsed.config;
  EXPECT_EQ(config.database, "/data/stab.db");
  EXPECT_EQ(config.socket, "/run/stab/s");
  EXPECT_EQ(config.socket_group, "lab");
  EXPECT_TRUE(config.root_plans);
  EXPECT_EQ(config.during_trials, DuringTrials::kQuiet);
  EXPECT_NE(describe(config).find("served, while trials run: quiet"), std::string::npos) << describe(config);
  EXPECT_EQ(config.log, LogFormat::kJson);
  EXPECT_EQ(config.notify, (std::vector<std::string>{"/usr/local/bin/tell", "lab"}));
  EXPECT_EQ(config.notify_timeout, seconds(5));
  EXPECT_EQ(config.retention.experiments, hours(2400));
  EXPECT_EQ(config.retention.builds, hours(240));
  EXPECT_EQ(config.retention.disk_bytes, 20ull << 30);
  EXPECT_EQ(config.retention.free_bytes, 1ull << 30);
  // Whoever has no own quota has the general one; an own one begins as the general one.
  EXPECT_EQ(config.quota_of(7).experiments, 5);
  EXPECT_EQ(config.quota_of(1001).priority, 9);
  EXPECT_EQ(config.quota_of(1001).trials, 100000);
  EXPECT_EQ(config.quota_of(42).experiments, 0);
  EXPECT_EQ(config.quota_of(42).disk_bytes, 2ull << 30);
  EXPECT_EQ(config.quota_of(42).stored_experiments, 20);
  EXPECT_EQ(config.quota_of(42).all_trials, 500000);
  EXPECT_EQ(config.quota_of(42).stored_bytes, 1ull << 30);
  EXPECT_EQ(config.quota_of(42).wall_time, hours(48));
  EXPECT_EQ(config.quota_of(1001).wall_time, hours(1));
  EXPECT_EQ(config.connections.all, 100);
  EXPECT_EQ(config.connections.of_user, 5);
  EXPECT_EQ(config.policy.submitters.gid, 77u);
  EXPECT_EQ(config.policy.operators.name, "lab");
  EXPECT_FALSE(config.policy.knobs.gid.has_value());
  EXPECT_EQ(config.limits.memory_bytes, uint64_t{8} << 30);
  EXPECT_EQ(config.limits.processes, 0);
  EXPECT_EQ(lab_limits(config.limits, host::Roots()).most, (host::TreeLimits{uint64_t{8} << 30, 0}));
  EXPECT_TRUE(lab_limits(config.limits, host::Roots()).is_named);
  EXPECT_EQ(lab_limits({}, host::Roots()).most, engine::default_limits(host::Roots()));
}

TEST(Config, NothingIsRequired) {
  const ParsedConfig parsed = parse_config("", "c.toml", known_users);
  ASSERT_TRUE(parsed.config.has_value());
  EXPECT_FALSE(parsed.config->root_plans);
  EXPECT_EQ(parsed.config->retention.experiments.count(), 0) << "results are never deleted unless somebody says so";
  EXPECT_FALSE(describe(*parsed.config).empty());
}

TEST(Config, FaultsHavePlacesAndHints) {
  EXPECT_EQ(faults_of("[daemn]\n"),
            "c.toml:1:2: error: unknown key 'daemn' in the file\n"
            "  1 | [daemn]\n"
            "    |  ^\n"
            "  hint: did you mean 'daemon'?\n");
  EXPECT_NE(faults_of("[log]\nformat = \"jsn\"\n").find("c.toml:2:10: error: format 'jsn' is none of auto, text, json, journal"),
            std::string::npos);
  EXPECT_NE(faults_of("[web]\nduring_trials = \"silent\"\n").find("is none of live, quiet, off"), std::string::npos);
  EXPECT_NE(faults_of("[daemon]\nweb = false\n[web]\nduring_trials = \"off\"\n").find("c.toml:4:17: error: 'during_trials' is"),
            std::string::npos);
  EXPECT_NE(faults_of("[daemon]\nsocket = \"s\"\n").find("expected an absolute path"), std::string::npos);
  EXPECT_NE(faults_of("[notify]\ncommand = [\"tell\"]\n").find("absolute path"), std::string::npos);
  EXPECT_NE(faults_of("[notify]\ncommand = []\n").find("absolute path"), std::string::npos);
  EXPECT_NE(faults_of("[notify]\ntimeout = \"2h\"\n").find("at most 1h"), std::string::npos);
  EXPECT_NE(faults_of("[quota]\npriority = 5000\n").find("expected -1000 to 1000"), std::string::npos);
  EXPECT_NE(faults_of("[retention]\nbuilds = 3\n").find("expected a duration"), std::string::npos);
  EXPECT_NE(faults_of("user = 3\n").find("expected an array"), std::string::npos);
  EXPECT_NE(faults_of("[[user]]\nname = \"bob\"\n").find("there is no user 'bob'"), std::string::npos);
  EXPECT_NE(faults_of("[[user]]\npriority = 1\n").find("either a name or a uid"), std::string::npos);
  EXPECT_NE(faults_of("[[user]]\nuid = 1001\n[[user]]\nname = \"alice\"\n").find("has a [[user]] already"), std::string::npos);
  EXPECT_NE(faults_of("[policy]\nknobs = \"labb\"\n").find("there is no group 'labb'"), std::string::npos);
  EXPECT_NE(faults_of("[policy]\nknobs = \"labb\"\n").find("groupadd labb"), std::string::npos);
  EXPECT_NE(faults_of("[daemon]\nconnections = 3\n").find("expected 32 to 4096"), std::string::npos);
  EXPECT_NE(faults_of(std::string(2000, '[')).find("nest deeper"), std::string::npos);
  EXPECT_NE(faults_of("[daemon\n").find("not valid TOML"), std::string::npos);
}

TEST(Config, AFileThatOthersMayWriteIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("stabd.toml", "[quota]\nexperiments = 7\n", 0644);
  ASSERT_TRUE(load_config(path).ok());
  EXPECT_EQ(load_config(path)->config->quota.experiments, 7);
  ::chmod(path.c_str(), 0664);
  EXPECT_EQ(load_config(path).error().code, ErrorCode::kDenied);
  EXPECT_EQ(load_config(directory.path()).error().code, ErrorCode::kBadInput);
  EXPECT_EQ(load_config(directory.path() + "/none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stab::daemon
