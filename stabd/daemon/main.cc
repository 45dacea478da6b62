// stabd: parse, check what is needed, start the engine's thread, serve until told to stop.
#include <sched.h>
#include <signal.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/trusted_folder.h"
#include "base/version.h"
#include "base/wording.h"
#include "stabd/broker/wire/start_broker.h"
#include "stabd/daemon/loop/server.h"
#include "stabd/daemon/settings/daemon_options.h"
#include "stabd/daemon/settings/daemon_socket.h"
#include "stabd/daemon/settings/separate.h"
#include "stabd/engine/machine/topology.h"
#include "stabd/engine/separation/places.h"
#include "stabd/host/tuning.h"

namespace {

using namespace stab;

struct Options : daemon::DaemonOptions {
  bool foreground = false, dry_run = false, check_config = false;
};

int complain(const Error& error) {
  std::fprintf(stderr, "stabd: %s\n", error.text().c_str());
  return error.code == ErrorCode::kBadInput ? 2 : 1;
}

void send_to_journal(const std::vector<std::string>& fields) {
  std::vector<iovec> parts;
  for (const std::string& field : fields) parts.push_back({const_cast<char*>(field.data()), field.size()});
  ::sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

// Pings come from the loop, at half the time that the service manager allows: a hanging loop is restarted.
void keep_watchdog_quiet(daemon::Server& server) {
  uint64_t allowed_us = 0;
  if (::sd_watchdog_enabled(0, &allowed_us) <= 0) return;
  server.every(std::chrono::milliseconds(std::max<uint64_t>(allowed_us / 2000, 1)), [] { ::sd_notify(0, "WATCHDOG=1"); });
}

// The CPU that plans get by default is for their trials. The engine's thread has begun already and finds its own.
void keep_off_trials() {
  const auto topology = engine::Topology::discover();
  const auto placement = topology ? engine::place(*topology, "auto", "auto") : Result<host::Placement>(topology.error());
  if (!placement || placement->housekeeping_cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(placement->housekeeping_cpu), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

// A broker with the rights that we have now; then ours are gone, before anything of a client's is read.
Result<std::shared_ptr<broker::Client>> separate(const daemon::Config& config, const host::Installation& installation) {
  if (!config.broker.empty()) {
    STAB_TRY(std::shared_ptr<broker::Client> client, broker::connect(config.broker));
    return client;
  }
  broker::StartOptions start;
  start.program = installation.broker;
  start.allow_root = config.root_plans;
  if (config.user == "root" || ::geteuid() != 0) {
    STAB_TRY(std::shared_ptr<broker::Client> client, broker::start(start));
    return client;
  }
  STAB_TRY(const daemon::ServiceUser user, daemon::service_user(config.user, config.socket_group));
  STAB_CHECK_OK(daemon::hand_over(config.database, config.socket, user));
  start.front_end = user.uid;
  STAB_TRY(std::shared_ptr<broker::Client> client, broker::start(start));
  STAB_CHECK_OK(daemon::become(user));
  return client;
}

// A report of many trials is computed for minutes and knows no way to be interrupted. It only reads, and what the engine had to
// store is stored, so the process can end under it; the next start removes what else lies about.
[[noreturn]] void end_beside_reports(daemon::Server& server, const daemon::LogSink& log, bool lost_broker) {
  log({daemon::LogPriority::kNotice, "stop", "a report that was being computed is given up", {}});
  server.leave_places();
  std::fflush(nullptr);
  std::_Exit(lost_broker ? 1 : 0);
}

// Every prerequisite has its own message; after this only the machine itself can fail.
Status serve(const daemon::Config& config) {
  const SystemClock clock;
  const daemon::LogSink log = daemon::make_log(config.log, [&clock] { return clock.realtime().count(); }, send_to_journal);
  engine::Engine::Options wanted;
  wanted.clock = &clock;
  wanted.database = config.database;
  wanted.limits = daemon::lab_limits(config.limits, wanted.roots);
  STAB_TRY(wanted.installation, host::find_installation());
  // A start that is refused leaves nothing behind: what can be asked beforehand is, and who serves us already is found.
  STAB_CHECK_OK(daemon::check_places(config));
  const bool has_broker = !config.broker.empty();
  if (has_broker) {
    STAB_TRY(wanted.broker, separate(config, wanted.installation));
  }
  const std::string directory = std::filesystem::path(config.socket).parent_path().string();
  if (!directory.empty()) STAB_CHECK_OK(engine::make_directories(directory));
  STAB_CHECK_OK(daemon::keep_private(wanted.database));
  if (!has_broker) {
    STAB_TRY(wanted.broker, separate(config, wanted.installation));
  }
  STAB_CHECK_OK(check_trusted_folder(std::filesystem::path(config.database).parent_path().string()));
  STAB_TRY(const std::unique_ptr<engine::Engine> engine, engine::Engine::open(wanted));
  STAB_TRY(const std::unique_ptr<daemon::Server> server, daemon::Server::listen(config.socket, config.socket_group));
  if (config.web) STAB_CHECK_OK(server->listen_for_browsers(daemon::web_socket_beside(config.socket), config.socket_group));
  log({daemon::LogPriority::kNotice, "start", "stabd " + std::string(version()) + " serves",
       {{"database", wanted.database}, {"socket", config.socket}, {"cut_off", std::to_string(engine->recovered().lost.size())}}});

  daemon::Upkeep upkeep(*engine, config, log);
  daemon::TrialGap gap;
  daemon::EngineThread thread(*engine, [&server] { server->wake(); },
                              [&upkeep](const daemon::EndedRun& ended, int quit_fd) { upkeep.between(ended, quit_fd); });
  daemon::Service service(*engine, thread, {&config, &upkeep, ::geteuid(), ::geteuid() == 0 || wanted.broker->is_root(), log});
  if (config.web && config.during_trials != daemon::DuringTrials::kLive) {
    thread.serve_browsers_in(gap);
    server->hold_browsers(config.during_trials, gap);
  }
  thread.start();
  keep_off_trials();
  server->log_to(log);
  keep_watchdog_quiet(*server);
  ::sd_notify(0, "READY=1");
  const bool is_at_rest = server->run(service, [&] {
    // Without it nothing runs any more. Whoever started us starts us again: what ran is repeated then.
    if (engine->lost_broker()) ::raise(SIGTERM);
    return thread.take_events();
  });
  ::sd_notify(0, "STOPPING=1");
  const bool lost_broker = engine->lost_broker();
  log({daemon::LogPriority::kNotice, "stop", lost_broker ? "the broker has ended" : "told to stop", {}});
  thread.stop();
  if (!is_at_rest) end_beside_reports(*server, log, lost_broker);
  if (!lost_broker) return {};
  return Error{ErrorCode::kUnavailable, "the broker has ended: what ran is lost, and repeated after the next start", {}};
}

int run(const Options& options) {
  const Result<daemon::Config> config = daemon::settle_config(options);
  if (!config) return complain(config.error());
  if (options.check_config || options.dry_run)
    std::printf("database: %s\nsocket: %s\n%s", config->database.c_str(), config->socket.c_str(),
                daemon::describe(*config).c_str());
  if (options.check_config) return 0;
  const Status done = options.dry_run ? daemon::check_prerequisites(*config) : serve(*config);
  return done.ok() ? 0 : complain(done.error());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("stabd: runs experiments that are submitted over its socket, one trial at a time");
  app.add_option("--config", options.config,
                 "configuration; default: /etc/stab/stabd.toml for root, else ~/.config/stab/stabd.toml");
  app.add_option("--db", options.database,
                 "database file; default: /var/lib/stab/stab.db for root, else $XDG_STATE_HOME/stab/stab.db");
  app.add_option("--socket", options.socket, "where to listen; default: $XDG_RUNTIME_DIR/stab.sock or /run/stab/stab.sock");
  app.add_flag("--foreground", options.foreground, "stay in the foreground; the default, and what a service manager wants");
  app.add_flag("--check-config", options.check_config,
               "say what holds with this configuration, or what is wrong with it; run nothing");
  app.add_flag("--dry-run", options.dry_run, "the same, and whether a daemon would start with it; changes nothing");
  app.add_option("--user", options.user,
                 "once started as root, go on as this user (default: stab); a broker keeps what needs root's rights");
  app.add_option("--broker", options.broker, "socket of the broker to use, where a service manager keeps one");
  app.add_flag("--allow-root", options.allow_root, "run plans that root submits");
  app.set_version_flag("--version", "stabd " + std::string(version()), "print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& said) {  // --help, --version
    return app.exit(said);
  } catch (const CLI::ParseError& said) {
    const std::vector<std::string> rest = app.remaining();
    const std::string why = rest.empty() ? said.what() : "there is no option " + in_quotes(rest[0]);
    std::fprintf(stderr, "stabd: %s; 'stabd --help' lists its options\n", printable(why).c_str());
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error that is told, as a full disk is
  return run(options);
}
