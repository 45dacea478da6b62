// A program on Debian's libc, linked statically: its some thousand functions are moved with its own. It prints what it computed.
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int ascending(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

static void sorted(void) {
  int numbers[200];
  for (int i = 0; i < 200; ++i) numbers[i] = i * 7919 % 1009;
  qsort(numbers, 200, sizeof numbers[0], ascending);
  const int wanted = numbers[77];
  const int* found = bsearch(&wanted, numbers, 200, sizeof numbers[0], ascending);
  printf("sorted %d %d %d, found %d\n", numbers[0], numbers[100], numbers[199], *found);
}

static void texts(void) {
  char text[400] = "";
  for (int i = 0; i < 20; ++i) snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02x", i % 3 == 0 ? "," : "", i * 13);
  for (char* c = text; *c != 0; ++c) *c = (char)toupper((unsigned char)*c);
  printf("%s %zu\n", text, strlen(text));
  printf("%s %ld %lu %.3f\n", strstr(text, "41"), strtol("-1234xyz", NULL, 10), strtoul("ff", NULL, 16), strtod("2.75e2", NULL));
  int a = 0, b = 0;
  char word[16];
  printf("scanned %d:", sscanf("12 fish 0x1f", "%d %15s %i", &a, word, &b));
  printf(" %d %s %d, %s\n", a, word, b, strerror(ENOENT));
  char parts[] = "a:bb::ccc";
  for (char* part = strtok(parts, ":"); part != NULL; part = strtok(NULL, ":")) printf("<%s>", part);
  printf("\n");
}

static void numbers(void) {
  double sum = 0;
  for (int i = 1; i < 50; ++i) sum += sin(i) * exp(-i / 10.0) + pow(i, 0.25) + fmod(i, 3.7) + log(i);
  printf("%.12g %.6e %a\n", sum, sum, 0.1);
  printf("%Lf\n", 1.0L / 3);
}

static void matched(void) {
  regex_t pattern;
  regmatch_t parts[3];
  if (regcomp(&pattern, "([a-z]+)-([0-9]{2,4})", REG_EXTENDED) != 0) exit(3);
  const char* const text = "see page abc-1234, please";
  if (regexec(&pattern, text, 3, parts, 0) != 0) exit(4);
  printf("matched %.*s and %.*s\n", (int)(parts[1].rm_eo - parts[1].rm_so), text + parts[1].rm_so,
         (int)(parts[2].rm_eo - parts[2].rm_so), text + parts[2].rm_so);
  regfree(&pattern);
}

static void allocated(void) {
  char* kept[100];
  size_t total = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i >= 100) free(kept[i % 100]);
    const size_t bytes = (size_t)(i * 37 % 5000) + 1;
    kept[i % 100] = malloc(bytes);
    memset(kept[i % 100], i, bytes);
    total += bytes;
  }
  unsigned sum = 0;
  for (int i = 0; i < 100; ++i) {
    sum = sum * 31 + (unsigned char)kept[i][0];
    free(kept[i]);
  }
  printf("allocated %zu, %u\n", total, sum);
}

static jmp_buf back;
static void jumps(int depth) {
  if (depth == 0) longjmp(back, 5);
  jumps(depth - 1);
}

static volatile sig_atomic_t caught;
static void catches(int signal) {
  caught += signal;
}

static void left(void) {
  const int came = setjmp(back);
  if (came == 0) jumps(7);
  signal(SIGUSR1, catches);
  raise(SIGUSR1);
  raise(SIGUSR1);
  printf("came back by %d, caught %d\n", came, (int)caught);
}

static void dates(void) {
  const time_t when = 1234567890;
  char text[64];
  strftime(text, sizeof text, "%A %d %B %Y %H:%M:%S", gmtime(&when));
  printf("%s\n", text);
}

static void at_the_end(void) {
  printf("the end\n");
}

int main(void) {
  setlocale(LC_ALL, "C");
  atexit(at_the_end);
  sorted();
  texts();
  numbers();
  matched();
  allocated();
  left();
  dates();
  return 7;
}
