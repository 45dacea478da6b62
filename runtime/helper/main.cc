// stab-helper: the helper as a program of its own, which a launcher starts beside the measured program so that
// none of the helper's time is in the program's counters.
//
//   stab-helper --socket FD [--report FD] [--cpu N]
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/helper/detach.h"
#include "runtime/helper/session.h"

namespace {

struct Options {
  int socket = -1;
  int report = -1;
  int cpu = -1;
};

bool parse_number(const char* text, int& value) {
  char* end = nullptr;
  const long number = strtol(text, &end, 10);
  if (*text == 0 || *end != 0 || number < 0 || number > 1'000'000) return false;
  value = static_cast<int>(number);
  return true;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    int* value = nullptr;
    if (strcmp(argv[i], "--socket") == 0) value = &options.socket;
    if (strcmp(argv[i], "--report") == 0) value = &options.report;
    if (strcmp(argv[i], "--cpu") == 0) value = &options.cpu;
    if (value == nullptr || !parse_number(argv[i + 1], *value)) return false;
  }
  return argc % 2 == 1 && options.socket >= 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs("usage: stab-helper --socket FD [--report FD] [--cpu N]; started by the launcher, not by people\n", stderr);
    return 2;
  }
  stab::helper::detach(options.socket, options.report);
  return stab::helper::serve(options.socket, options.report, true, options.cpu);
}
