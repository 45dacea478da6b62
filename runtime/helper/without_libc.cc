// What the helper calls of libc, for its own program.
#include <stddef.h>
#include <stdint.h>

#include "runtime/arch/arch.h"

extern "C" {

void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) {
  stab::arch::copy_bytes(to, from, bytes);
  return to;
}

void* memmove(void* to, const void* from, size_t bytes) {
  auto* const out = static_cast<uint8_t*>(to);
  const auto* const in = static_cast<const uint8_t*>(from);
  if (out <= in || out >= in + bytes) return memcpy(to, from, bytes);
  for (size_t i = bytes; i > 0; --i) out[i - 1] = in[i - 1];
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  stab::arch::fill_bytes(to, value, bytes);
  return to;
}

int memcmp(const void* a, const void* b, size_t bytes) {
  const auto* const x = static_cast<const uint8_t*>(a);
  const auto* const y = static_cast<const uint8_t*>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return static_cast<uint8_t>(*a) - static_cast<uint8_t>(*b);
}

char* strrchr(const char* text, int sought) {
  const char* found = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(sought)) found = text;
    if (*text == 0) return const_cast<char*>(found);
  }
}

char* strstr(const char* text, const char* sought) {
  const size_t length = strlen(sought);
  for (; *text != 0; ++text)
    if (memcmp(text, sought, length) == 0) return const_cast<char*>(text);
  return length == 0 ? const_cast<char*>(text) : nullptr;
}

}  // extern "C"
