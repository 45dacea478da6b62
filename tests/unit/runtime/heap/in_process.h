// in_process(): runs a test's body in a forked child with heap settings of its own. The heap decides its mode
// once a process, at the first allocation; the parent never allocates from it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stab::heap {

struct Outcome {
  std::vector<uint64_t> numbers;  // what the body returned
  std::string errors;             // what the child wrote to stderr
  int status = 0;                 // as waitpid says
  bool ok() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

// A sanitizer brings its own malloc, which `off` would bypass, and its own appetite for memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline std::string read_all(int fd) {
  std::string all;
  char buffer[65536];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) all.append(buffer, static_cast<size_t>(got));
  close(fd);
  return all;
}

// A failed EXPECT in the body makes the outcome not ok, and its message is among the errors.
inline Outcome in_process(const char* mode, uint64_t seed, const std::function<std::vector<uint64_t>()>& body) {
  int numbers[2], errors[2];
  if (pipe(numbers) != 0 || pipe(errors) != 0) return {{}, "pipe failed", -1};
  const pid_t child = fork();
  if (child == 0) {
    dup2(errors[1], 1);
    dup2(errors[1], 2);
    close(errors[0]);
    setenv("STAB_HEAP", mode, 1);
    setenv("STAB_SEED", std::to_string(seed).c_str(), 1);
    const std::vector<uint64_t> made = body();
    for (size_t at = 0; at < made.size(); at += 512) {
      const size_t bytes = std::min<size_t>(512, made.size() - at) * sizeof(uint64_t);
      if (write(numbers[1], &made[at], bytes) != static_cast<ssize_t>(bytes)) _exit(3);
    }
    fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(numbers[1]);
  close(errors[1]);
  Outcome outcome;
  const std::string bytes = read_all(numbers[0]);
  outcome.numbers.resize(bytes.size() / sizeof(uint64_t));
  if (!outcome.numbers.empty()) memcpy(&outcome.numbers[0], bytes.data(), outcome.numbers.size() * sizeof(uint64_t));
  outcome.errors = read_all(errors[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

inline uint64_t as_number(const void* address) { return reinterpret_cast<uint64_t>(address); }

}  // namespace stab::heap
