// The board: where a program counts its visits of progress points, shared with its helper and with its forked children.
//
//   Board | BoardPoint[kPoints] | SharedCell[kPoints] | BoardRow[kRows]
//
// A memfd of kBoardBytes that the helper makes with the control block and the program maps before main. Nothing of it is
// touched, and so no page of it exists, until the first visit.
//
// A point is a name and a kind. Its number, 1 to kPoints - 2, is the order in which points were first visited; 0 is none,
// kDropped stands for all that found no place. A row belongs to one thread at a time, which alone adds to it, so a visit is
// one addition without a lock prefix to a line that nobody else writes. A row whose thread has ended goes to the next thread
// as it is. Counts only grow: the visits of a point are the sum of its cells, whoever had them.
//
// All of it is the program's to write for its whole life. Whoever reads it bounds every number (read_board).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::progress {

inline constexpr uint32_t kPoints = 64;
inline constexpr uint32_t kDropped = kPoints - 1;
inline constexpr uint32_t kMostNamed = kPoints - 2;  // points that have a number of their own
inline constexpr uint32_t kRows = 1024;
inline constexpr size_t kNameBytes = 112;  // with the final 0; COZ's own names are FILE:LINE

// Do not renumber: programs are compiled with these (runtime/include/stab/progress.h); the first three are COZ's.
enum class Kind : uint32_t { kNone = 0, kProgress = 1, kBegin = 2, kEnd = 3, kArrival = 4, kCount };
inline constexpr const char* kKindWords[] = {"none", "progress", "begin", "end", "arrival"};

struct BoardPoint {
  char name[kNameBytes];
  uint32_t kind;
  uint32_t ready;  // 1, with release, once name and kind are there
  uint64_t reserved;
};

// For whoever has no row: threads beyond kRows, threads that are ending, and COZ's counters, whose two fields these are.
// Added to atomically, on a line of its own.
struct alignas(64) SharedCell {
  uint64_t visits;
  uint64_t backoff;
};

// owner: process id << 32 | a number of the thread's own, 0: free.
struct alignas(64) BoardRow {
  uint64_t owner;
  uint64_t visits[kPoints - 1];  // [number - 1]
};

struct Board {
  uint32_t points_used;      // numbers given, at most kMostNamed
  uint32_t rows_used;        // rows ever given, at most kRows
  uint64_t points_dropped;   // places in the program that found no number: too many points, or too long a name
  uint64_t threads_sharing;  // threads that found no free row
  uint64_t reserved[509];
  BoardPoint points[kPoints];
  SharedCell shared[kPoints];
  BoardRow rows[kRows];
};
inline constexpr size_t kBoardBytes = sizeof(Board);
static_assert(sizeof(BoardPoint) == 128 && sizeof(BoardRow) == 512 && kBoardBytes % 4096 == 0);

// Where in a row the count of a point lies: what a place in the program remembers (stab_rt_visit).
inline constexpr uint32_t offset_of(uint32_t number) { return number * 8; }

// What a board says, bounded and with printable names. Points of the same name and kind are one.
struct PointCount {
  char name[kNameBytes];
  Kind kind;
  uint64_t visits;
};
struct Counts {
  uint32_t points = 0;
  PointCount point[kMostNamed];  // in the order of their first visits
  uint64_t rows = 0;
  uint64_t threads_sharing = 0;
  uint64_t points_dropped = 0;
  uint64_t visits_dropped = 0;
};
void read_board(const Board& board, Counts& out);

// Copies the name of a number, with '?' for what would need an escape in JSON. False: it has none.
bool read_name(const Board& board, uint32_t number, char (&to)[kNameBytes]);

// The visits of one number so far; 0 for one that no point has.
uint64_t visits_of(const Board& board, uint32_t number);

}  // namespace stab::progress
