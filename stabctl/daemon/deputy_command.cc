// deputy: the submitter's side of an experiment that a daemon runs on machines. It is started by the daemon, through the broker
// and as the submitter, with a connection as its standard input and output.
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "stabctl/command_line/commands.h"
#include "stabd/engine/machines/deputy.h"
#include "stabd/host/installation.h"

namespace stab::ctl {
namespace {

// ssh looks for its keys, and sbatch says who submits: what a login would have set.
void be_at_home() {
  const passwd* who = ::getpwuid(::geteuid());
  if (who == nullptr) return;
  ::setenv("HOME", who->pw_dir, 1);
  ::setenv("USER", who->pw_name, 1);
  ::setenv("LOGNAME", who->pw_name, 1);
  ::setenv("SHELL", who->pw_shell, 1);
}

}  // namespace

int deputy_command(const Arguments& arguments) {
  if (::isatty(STDIN_FILENO)) return complain(bad_input("a daemon runs this, and speaks with it over standard input and output"));
  ::signal(SIGPIPE, SIG_IGN);
  ::umask(0022);
  be_at_home();
  const auto installation = host::find_installation();
  if (!installation) return complain(installation.error());
  const SystemClock clock;
  engine::DeputySetting setting;
  setting.from = STDIN_FILENO;
  setting.to = STDOUT_FILENO;
  setting.stabctl = installation->bin + "/stabctl";
  setting.scratch = arguments.scratch;
  setting.clock = &clock;
  const Status served = engine::run_deputy(setting);
  return served ? kExitDone : complain(served.error());
}

}  // namespace stab::ctl
