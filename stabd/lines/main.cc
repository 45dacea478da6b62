// stab-lines: reads a request (stabd/lines/wire/lines_wire.h) on standard input and answers it on standard output.
//
// It is started as whoever the binaries belong to, and confines itself before it reads (lines_sandbox.h). Whatever a binary makes
// LLVM's library do ends with this process.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "stabd/lines/lines_sandbox.h"
#include "stabd/lines/module_file.h"
#include "stabd/lines/region_search.h"

namespace {

constexpr size_t kMostRequestBytes = size_t{64} << 20;

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
  if (const char* failed = confine()) {
    std::fprintf(stderr, "stab-lines: %s\n", failed);
    return 1;
  }
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
