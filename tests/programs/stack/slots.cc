// Built twice and linked: main, part (second half), and an inline function in both halves have one slot each; what
// --gc-sections drops takes its slot along.
#ifndef SECOND_HALF
#define SECOND_HALF 0
#endif

__attribute__((noinline)) inline int leaf(int* at) {
  __asm__ volatile("" : : "r"(at) : "memory");
  return *at;
}

__attribute__((noinline)) inline int in_both(int n) {
  int local = n;
  return leaf(&local) + 1;
}

int part(int n);

#if SECOND_HALF
int part(int n) { return in_both(n) + 1; }
#else
int dropped(int n) { return in_both(n) + 2; }

int main() { return part(1) + in_both(2) == 6 ? 0 : 1; }
#endif
