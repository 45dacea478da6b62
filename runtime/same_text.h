// Whether two texts are the same, without strcmp: a program may have one of its own, which is not ready before main.
#pragma once

namespace stab {

[[gnu::always_inline]] inline bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace stab
