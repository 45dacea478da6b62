#include "runtime/layout/regular_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/sys.h"

namespace stab::layout {

int refuse(const char* file, const char* why) {
  fprintf(stderr, "stab-layout: '%s': %s\n", file, why);
  return 1;
}

int open_regular(const char* path) {
  const int file = strcmp(path, "-") == 0 ? STDIN_FILENO : sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat info {};
  if (file < 0) return refuse(path, strerror(-file)), -1;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return refuse(path, "it is no regular file"), -1;
  return file;
}

}  // namespace stab::layout
