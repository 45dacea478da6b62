// The daemon computes no page: it holds every trial, and may be large. Whoever may see an experiment may fetch its bundle, which
// is a store, so everything else is made of that.
#include "stabctl/daemon/daemon_report.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

#include "base/shell_word.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/daemon/daemon_client.h"
#include "stabctl/records/page_file.h"
#include "stabctl/records/report_text.h"
#include "stabctl/terminal/temporary_folder.h"
#include "stabctl/terminal/terminal.h"

namespace stab::ctl {
namespace {

std::string socket_of(const Arguments& arguments) {
  return arguments.socket.empty() ? usual_socket() : arguments.socket;
}

// " --socket PATH"
std::string daemon_option(const Arguments& arguments) {
  return " --socket " + shell_word(socket_of(arguments));
}

// A fetched bundle, open. Gone when this is.
class FetchedBundle {
 public:
  static Result<FetchedBundle> fetch(DaemonClient& client, const std::string& experiment) {
    STAB_TRY(TemporaryFolder folder, TemporaryFolder::make(TemporaryPurpose::kReport));
    const std::string path = folder.path() + "/bundle";
    FetchedBundle bundle(std::move(folder));
    STAB_TRY(bundle.number_, fetch_bundle(client, experiment, path));
    STAB_TRY(store::Store store, store::Store::open(path, store::Store::Access::kRead));
    bundle.store_.emplace(std::move(store));
    STAB_TRY(std::vector<store::ExperimentRow> rows, bundle.store_->experiments());
    if (rows.empty()) return Error{ErrorCode::kCorrupt, "the daemon's bundle has no experiment", {}};
    bundle.row_ = std::move(rows[0]);
    return bundle;
  }
  store::Store& store() { return *store_; }
  const store::ExperimentRow& row() const { return row_; }
  int64_t number() const { return number_; }  // at the daemon

 private:
  explicit FetchedBundle(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
  std::optional<store::Store> store_;  // closed before the folder goes
  store::ExperimentRow row_;
  int64_t number_ = 0;
};

// Commands on a page of it are for the daemon.
Status write_daemons_page(FetchedBundle& bundle, const Arguments& arguments, const std::string& path) {
  return write_page(bundle.store(), bundle.row(), path, {daemon_option(arguments), bundle.number()});
}

int print_daemons_text(DaemonClient& client, const Arguments& arguments, const std::string& experiment, bool as_json,
                       const std::string& page) {
  const auto result =
      client.call("report", {{"experiment", experiment}, {"options", daemon_option(arguments)}, {"page", page}},
                  {{"json", as_json ? 1 : 0}, {"full", arguments.full ? 1 : 0}, {"width", terminal_width()}});
  return result ? print(daemons_output(*result)) : complain(result.error());
}

}  // namespace

commands::CommandOutput daemons_output(const std::string& answer) {
  const auto json = nlohmann::json::parse(answer);
  return {json.value("out", std::string()), json.value("err", std::string()), json.value("exit_code", kExitFailed)};
}

std::string report_words(const Arguments& arguments, int64_t experiment) {
  return "stabctl report " + std::to_string(experiment) + daemon_option(arguments);
}

int daemon_report(const Arguments& arguments) {
  auto client = DaemonClient::connect(arguments.socket);
  if (!client) return complain(client.error());
  const bool as_json = arguments.json || arguments.format == "json";
  const bool by_daemon = as_json || arguments.format.empty() || arguments.format == "text";
  const bool files = !arguments.figures.empty() || !arguments.coz.empty();  // that are written here
  if (by_daemon && !files && arguments.html.empty())
    return print_daemons_text(*client, arguments, arguments.experiment, as_json, "");
  auto bundle = FetchedBundle::fetch(*client, arguments.experiment);
  if (!bundle) return complain(bundle.error());
  if (!arguments.html.empty() && says_rejected(bundle->store(), bundle->row())) return kExitFailed;
  if (!arguments.html.empty())
    if (const Status written = write_daemons_page(*bundle, arguments, arguments.html); !written)
      return complain(written.error());
  int code = kExitDone;
  if (by_daemon && !files) {
    code = print_daemons_text(*client, arguments, arguments.experiment, as_json, arguments.html);
  } else {
    code = print_report(bundle->store(), bundle->row().id, arguments, arguments.html);
    std::fflush(stdout);
  }
  if (code == kExitDone && !arguments.html.empty()) say_page(arguments, arguments.html);
  return code;
}

int report_with_page(DaemonClient& client, const Arguments& arguments, int64_t experiment, const std::string& name) {
  const std::string number = std::to_string(experiment);
  const auto page = [&]() -> Result<std::string> {
    STAB_TRY(FetchedBundle bundle, FetchedBundle::fetch(client, number));
    store::ExperimentRow row = bundle.row();
    row.name = name;
    row.id = experiment;
    STAB_TRY(const std::string path, daemons_page_to_write(arguments, socket_of(arguments), row));
    STAB_CHECK_OK(write_daemons_page(bundle, arguments, path));
    return path;
  }();
  const int code = print_daemons_text(client, arguments, number, false, page ? *page : "");
  if (code != kExitDone) return code;
  if (!page) std::fprintf(stderr, "no page: %s\n", printable(page.error().text()).c_str());
  else say_page(arguments, *page);
  return code;
}

}  // namespace stab::ctl
