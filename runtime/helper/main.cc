// stab-helper: the helper as a program of its own, which a launcher starts beside the measured program so that
// none of the helper's time is in the program's counters.
//
//   stab-helper --socket FD [--report FD [--epochs 1] [--samples 1]] [--script FD] [--long-loops 1] [--cpu N]
//               [--user UID --group GID] [--parent PID]
//
// It dies with the process that --parent names, its own. Without it, it ends when its program does.
//
// One that starts as root has to be told whose program it serves, root's own included: it becomes that user before it
// reads a byte of what the program says.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/helper/confine.h"
#include "runtime/helper/detach.h"
#include "runtime/helper/session.h"
#include "runtime/helper/switches.h"

namespace {

struct Options {
  long socket = -1;
  long report = -1;
  long script = -1;
  long cpu = -1;
  long user = -1;
  long group = -1;
  long parent = -1;
  uint32_t switches = 0;
};

// The highest user is -1, which is nobody.
bool parse_number(const char* text, long most, long& value) {
  char* end = nullptr;
  const long number = strtol(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != 0 || number > most) return false;
  value = number;
  return true;
}

uint32_t switch_named(const char* word) {
  for (const stab::helper::SwitchWord& known : stab::helper::kSwitchWords)
    if (strcmp(word, known.word) == 0) return known.bit;
  return 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    long* value = nullptr;
    long most = 1'000'000, is_on = 0;
    const uint32_t bit = switch_named(argv[i]);
    if (bit != 0) value = &is_on, most = 1;
    if (strcmp(argv[i], "--socket") == 0) value = &options.socket;
    if (strcmp(argv[i], "--report") == 0) value = &options.report;
    if (strcmp(argv[i], "--script") == 0) value = &options.script;
    if (strcmp(argv[i], "--cpu") == 0) value = &options.cpu;
    if (strcmp(argv[i], "--user") == 0) value = &options.user;
    if (strcmp(argv[i], "--group") == 0) value = &options.group;
    if (strcmp(argv[i], "--parent") == 0) value = &options.parent;
    if (value == &options.user || value == &options.group) most = 0xfffffffe;
    if (value == &options.parent) most = 0x7fffffff;
    if (value == nullptr || !parse_number(argv[i + 1], most, *value)) return false;
    if (is_on == 1) options.switches |= bit;
  }
  return argc % 2 == 1 && options.socket >= 0 && (options.user < 0) == (options.group < 0);
}

[[noreturn]] void refuse(const char* why) {
  fprintf(stderr, "stab-helper: %s\n", why);
  exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs("usage: stab-helper --socket FD [--report FD [--epochs 1] [--samples 1]] [--script FD] [--long-loops 1] [--cpu N] "
          "[--user UID --group GID] [--parent PID]; started by the engine, not by people\n",
          stderr);
    return 2;
  }
  if (options.user < 0 && geteuid() == 0)
    refuse("started as root without --user and --group; name those of the program that it is to serve, also if they are 0");
  const stab::helper::Served served{static_cast<uid_t>(options.user), static_cast<gid_t>(options.group)};
  const int socket = static_cast<int>(options.socket), report = static_cast<int>(options.report);
  stab::helper::Task task;
  task.socket = socket;
  task.report = report;
  task.launched = true;
  task.cpu = static_cast<int>(options.cpu);
  task.script = static_cast<int>(options.script);
  task.switches = options.switches;
  stab::helper::detach(socket, report, STDERR_FILENO, task.script);
  if (const char* failed = stab::helper::confine(options.user < 0 ? nullptr : &served, options.parent)) refuse(failed);
  close(STDERR_FILENO);
  return stab::helper::serve(task);
}
