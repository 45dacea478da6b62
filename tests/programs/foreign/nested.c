/* Nested functions whose addresses are taken, so that gcc makes code on the stack for them, and a jump out of one. */
#include <stdio.h>
#include <stdlib.h>
static int apply(int (*f)(int), int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += f(i);
  return sum;
}
static long work(int base) {
  __label__ out;
  long calls = 0;
  int add(int i) {
    calls++;
    return base + i;
  }
  int leave(int i) {
    if (i == 30) goto out;
    return add(i);
  }
  long sum = apply(add, 50);
  sum += apply(leave, 50);
out:
  return sum + calls * 1000;
}
static int values[200];
static void sort_by(int key) {
  int compare(const void* a, const void* b) { return (*(const int*)a ^ key) - (*(const int*)b ^ key); }
  qsort(values, 200, sizeof *values, compare);
}
int main(void) {
  unsigned long sum = 0;
  for (int i = 0; i < 5000; i++) {
    sum = sum * 31 + (unsigned long)work(i);
    for (int k = 0; k < 200; k++) values[k] = (k * 7919 + i) & 0xfff;
    sort_by(i & 0xff);
    sum += (unsigned long)values[17];
  }
  printf("%lx\n", sum);
  return 0;
}
