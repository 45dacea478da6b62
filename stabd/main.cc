// stabd: parse, check what is needed, start the engine's thread, serve until told to stop.
#include <signal.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>

#include "stabd/host/tuning.h"
#include "stabd/places.h"
#include "stabd/server.h"

namespace {

using namespace stab;

struct Options {
  std::string database, socket;
  bool foreground = false, dry_run = false, allow_root = false;
};

int complain(const Error& error) {
  std::fprintf(stderr, "stabd: %s\n", error.text().c_str());
  return error.code == ErrorCode::kBadInput ? 2 : 1;
}

// Every prerequisite has its own message; after this only the machine itself can fail.
Status serve(const Options& options) {
  const SystemClock clock;
  engine::Engine::Options wanted;
  wanted.clock = &clock;
  wanted.knob_journal = engine::default_journal();
  // Several users' experiments belong to the system, not into root's home, where they couldn't reach their builds.
  const Result<std::string> otherwise = ::geteuid() == 0 ? Result<std::string>("/var/lib/stab/stab.db") : engine::default_database();
  if (options.database.empty() && !otherwise) return otherwise.error();
  wanted.database = options.database.empty() ? *otherwise : options.database;
  wanted.database = std::filesystem::absolute(wanted.database).string();
  STAB_TRY(wanted.installation, engine::find_installation());
  const std::string socket = options.socket.empty() ? engine::default_socket() : options.socket;
  const std::string directory = std::filesystem::path(socket).parent_path().string();
  if (!directory.empty()) STAB_CHECK_OK(engine::make_directories(directory));
  STAB_TRY(const std::unique_ptr<engine::Engine> engine, engine::Engine::open(wanted));
  STAB_TRY(store::Store reader, store::Store::open(wanted.database, store::Store::Access::kRead));
  STAB_TRY(const std::unique_ptr<engine::Server> server, engine::Server::listen(socket));
  std::fprintf(stderr, "stabd: database %s, socket %s, %zu trials were cut off earlier\n", wanted.database.c_str(),
               socket.c_str(), engine->recovered().lost.size());
  if (options.dry_run) return {};

  engine::EngineThread thread(*engine, [&server] { server->wake(); });
  engine::Service service(*engine, thread, std::move(reader), {options.allow_root, ::geteuid()});
  thread.start();
  ::sd_notify(0, "READY=1");
  server->run(service, [&thread] { return thread.take_events(); });
  ::sd_notify(0, "STOPPING=1");
  thread.stop();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("stabd: runs experiments that are submitted over its socket, one trial at a time");
  app.add_option("--db", options.database, "database file; default: /var/lib/stab/stab.db for root, else $XDG_STATE_HOME/stab/stab.db");
  app.add_option("--socket", options.socket, "where to listen; default: $XDG_RUNTIME_DIR/stab.sock or /run/stab/stab.sock");
  app.add_flag("--foreground", options.foreground, "stay in the foreground; the default, and what a service manager wants");
  app.add_flag("--dry-run", options.dry_run, "check everything that is needed, say what would be used, run nothing");
  app.add_flag("--allow-root", options.allow_root, "run plans that root submits");
  CLI11_PARSE(app, argc, argv);
  ::signal(SIGPIPE, SIG_IGN);
  const Status served = serve(options);
  return served.ok() ? 0 : complain(served.error());
}
