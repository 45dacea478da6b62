// stab-lines: reads a request (lines/wire/lines_wire.h) on standard input and answers it on standard output.
//
// It is started as whoever the binaries belong to, and takes the means from itself that it doesn't need: more memory, time and
// files than debug information asks for, and new privileges. Whatever a binary makes LLVM's library do ends with this process.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include "lines/region_search.h"
#include "lines/module_file.h"

namespace {

constexpr rlim_t kMostMemoryBytes = rlim_t{16} << 30;  // address space, of which files are mapped
constexpr rlim_t kMostSeconds = 300;
constexpr size_t kMostRequestBytes = size_t{64} << 20;

void confine() {
  const auto limit = [](int resource, rlim_t most) {
    rlimit now;
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
    const rlimit lower{std::min(most, now.rlim_max), std::min(most, now.rlim_max)};
    (void)::setrlimit(static_cast<__rlimit_resource>(resource), &lower);
  };
  limit(RLIMIT_AS, kMostMemoryBytes);
  limit(RLIMIT_CPU, kMostSeconds);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, stab::lines::kMostAnswerBytes);
  limit(RLIMIT_NPROC, 0);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

bool read_all(std::string& bytes) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got == 0) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || bytes.size() + static_cast<size_t>(got) > kMostRequestBytes) return false;
    bytes.append(buffer, static_cast<size_t>(got));
  }
}

bool write_all(const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t put = ::write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += static_cast<size_t>(put);
  }
  return true;
}

}  // namespace

int main(int argc, char**) {
  using namespace stab::lines;
  if (argc > 1) {
    std::fputs("stab-lines: a part of stab that stabctl and stabd start; it takes a request on standard input\n", stderr);
    return 2;
  }
  confine();
  std::string bytes;
  if (!read_all(bytes)) {
    std::fputs("stab-lines: its request can't be read\n", stderr);
    return 1;
  }
  const auto request = decode_request(bytes);
  if (!request) {
    std::fprintf(stderr, "stab-lines: %s\n", request.error().message.c_str());
    return 1;
  }
  if (write_all(encode(answer(*request, kDebugFolder)))) return 0;
  std::perror("stab-lines: write the answer");
  return 1;
}
