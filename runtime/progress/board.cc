// Reading a board that its program may be writing, or have filled with anything: each word is read once and bounded, sums
// wrap, and what is no name of a point is not shown as one.
#include "runtime/progress/board.h"

#include "runtime/same_text.h"

namespace stab::progress {
namespace {

template <typename T>
T look(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

}  // namespace

bool read_name(const Board& board, uint32_t number, char (&to)[kNameBytes]) {
  to[0] = 0;
  if (number == 0 || number > kMostNamed) return false;
  const char* const from = board.points[number].name;
  size_t at = 0;
  for (; at + 1 < kNameBytes; ++at) {
    const char c = look(from[at]);
    if (c == 0) break;
    to[at] = c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c;
  }
  to[at] = 0;
  return at > 0;
}

uint64_t visits_of(const Board& board, uint32_t number) {
  if (number == 0 || number >= kPoints) return 0;
  uint64_t sum = look(board.shared[number].visits);
  const uint32_t rows = least(look(board.rows_used), kRows);
  for (uint32_t row = 0; row < rows; ++row) sum += look(board.rows[row].visits[number - 1]);
  return sum;
}

void read_board(const Board& board, Counts& out) {
  out.points = 0;
  const uint32_t used = least(look(board.points_used), kMostNamed);
  for (uint32_t number = 1; number <= used; ++number) {
    const BoardPoint& point = board.points[number];
    PointCount& next = out.point[out.points];
    if (__atomic_load_n(&point.ready, __ATOMIC_ACQUIRE) != 1) continue;
    const uint32_t kind = look(point.kind);
    if (kind == 0 || kind >= static_cast<uint32_t>(Kind::kCount) || !read_name(board, number, next.name)) continue;
    next.kind = static_cast<Kind>(kind);
    next.visits = visits_of(board, number);
    uint32_t before = 0;
    const auto is_next = [&](const PointCount& one) { return one.kind == next.kind && same_text(one.name, next.name); };
    while (before < out.points && !is_next(out.point[before])) ++before;
    if (before < out.points) {
      out.point[before].visits += next.visits;
    } else {
      ++out.points;
    }
  }
  out.rows = least(look(board.rows_used), kRows);
  out.threads_sharing = look(board.threads_sharing);
  out.points_dropped = look(board.points_dropped);
  out.visits_dropped = visits_of(board, kDropped);
}

}  // namespace stab::progress
