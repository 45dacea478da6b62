// A configuration that was named must be there; the default one may be absent.
#include "stabd/daemon/settings/daemon_options.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <filesystem>

#include "base/absolute_path.h"
#include "base/trusted_folder.h"
#include "base/unique_fd.h"
#include "stabd/daemon/settings/daemon_socket.h"
#include "stabd/daemon/settings/separate.h"
#include "stabd/engine/separation/places.h"
#include "stabd/host/installation.h"
#include "store/store.h"

namespace stab::daemon {
namespace {

namespace fs = std::filesystem;

// The directory, or the nearest one above it that exists: there the rest can be made.
std::string existing_above(std::string path) {
  std::error_code error;
  while (!path.empty() && path != "/" && !fs::exists(path, error)) path = fs::path(path).parent_path().string();
  return path.empty() ? "." : path;
}

Status check_writable(const std::string& what, const std::string& file) {
  const std::string directory = existing_above(fs::path(file).parent_path().string());
  if (::access(directory.c_str(), W_OK | X_OK) == 0) return {};
  return system_error(what + " '" + file + "': write to '" + directory + "'", errno);
}

}  // namespace

Result<Config> settle_config(const DaemonOptions& options) {
  const std::string path = options.config.empty() ? default_config() : options.config;
  Config config;
  std::error_code ignored;
  if (!options.config.empty() || (!path.empty() && fs::exists(path, ignored))) {
    STAB_TRY(ParsedConfig parsed, load_config(path));
    if (!parsed.config) return bad_input("the configuration is wrong\n" + toml::render(parsed.errors));
    config = std::move(*parsed.config);
  }
  config.root_plans = config.root_plans || options.allow_root;
  if (!options.user.empty()) config.user = options.user;
  if (!options.broker.empty()) config.broker = options.broker;
  if (config.user.empty() && config.broker.empty() && ::geteuid() == 0) config.user = kServiceUser;
  if (!options.socket.empty()) config.socket = options.socket;
  if (config.socket.empty()) config.socket = default_socket();
  if (!options.database.empty()) config.database = options.database;
  // Several users' experiments belong to the system, not into root's home, where they couldn't reach their builds.
  if (config.database.empty() && ::geteuid() == 0) config.database = "/var/lib/stab/stab.db";
  if (config.database.empty()) {
    STAB_TRY(config.database, engine::default_database());
    STAB_CHECK_OK(engine::check_home_above(config.database));
  }
  STAB_TRY(config.database, absolute_path(config.database));
  STAB_TRY(config.socket, absolute_path(config.socket));
  return config;
}

Status check_places(const Config& config) {
  STAB_TRY(const host::Installation installation, host::find_installation());
  (void)installation;
  std::optional<uid_t> service;
  if (::geteuid() == 0 && config.broker.empty() && config.user != "root") {
    STAB_TRY(const ServiceUser user, service_user(config.user, config.socket_group));
    service = user.uid;
  }
  STAB_CHECK_OK(check_socket_is_free(config.socket));
  if (config.web) STAB_CHECK_OK(check_socket_is_free(web_socket_beside(config.socket)));
  STAB_CHECK_OK(check_writable("socket", config.socket));
  STAB_CHECK_OK(check_writable("database", config.database));
  STAB_TRY(const UniqueFd folder, open_trusted_folder(existing_above(fs::path(config.database).parent_path().string()), service));
  return {};
}

Status check_prerequisites(const Config& config) {
  STAB_CHECK_OK(check_places(config));
  std::error_code ignored;
  if (!fs::exists(config.database, ignored)) return {};
  STAB_TRY(const store::Store reader, store::Store::open(config.database, store::Store::Access::kRead));
  (void)reader;
  return {};
}

Status keep_private(const std::string& database) {
  const std::string directory = fs::path(database).parent_path().string();
  if (!directory.empty()) STAB_CHECK_OK(engine::make_directories(directory));
  // SQLite gives the files beside it the same mode; those of an earlier start may have another.
  for (const char* end : {"", "-wal", "-shm"}) {
    const std::string path = database + end;
    const int flags = *end == '\0' ? O_RDWR | O_CREAT : O_RDONLY | O_NONBLOCK;
    const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd && errno == ENOENT) continue;
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0) return system_error("open '" + path + "'", errno);
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1)
      return Error{ErrorCode::kDenied, "'" + path + "' is no file with this one name; move it away", {}};
    if (::fchmod(fd.get(), 0600) != 0) return system_error("chmod '" + path + "'", errno);
  }
  return {};
}

}  // namespace stab::daemon
