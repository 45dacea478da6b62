// The main of a program that is a row or some rows of the matrix: each feature is a function whose result depends on
// no address.
//   PROGRAM             all features in turn for about 60 epochs of 1 ms, then "<feature> <result>" of each
//   PROGRAM FEATURE     that one alone, as long
//   PROGRAM once        all, once: what to compare with
//   PROGRAM list        their names
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../repeat.h"

struct Feature {
  const char* name;
  long (*run)(void);
  long first;
};

#define FEATURES(...)                                                                          \
  static struct Feature features[] = {__VA_ARGS__};                                            \
  int main(int argc, char** argv) {                                                            \
    return run_features(features, sizeof features / sizeof *features, argc > 1 ? argv[1] : ""); \
  }

static void fail(const char* what) {
  printf("FAIL: %s\n", what);
  exit(1);
}

// A use of bytes that the compiler has to believe in.
NOINLINE __attribute__((unused)) static long sum(const char* bytes, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += bytes[i];
  return total;
}

static int is_chosen(const struct Feature* feature, const char* word) {
  return *word == 0 || strcmp(word, "once") == 0 || strcmp(word, feature->name) == 0;
}

static int run_features(struct Feature* features, size_t count, const char* word) {
  int chosen = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(word, "list") == 0) puts(features[i].name);
    if (is_chosen(&features[i], word)) features[i].first = features[i].run(), ++chosen;
  }
  if (strcmp(word, "list") == 0) return 0;
  if (chosen == 0) return 2;
  if (strcmp(word, "once") != 0)
    REPEAT for (size_t i = 0; i < count; ++i)
      if (is_chosen(&features[i], word) && features[i].run() != features[i].first) fail(features[i].name);
  for (size_t i = 0; i < count; ++i)
    if (is_chosen(&features[i], word)) printf("%s %ld\n", features[i].name, features[i].first);
  return 0;
}
