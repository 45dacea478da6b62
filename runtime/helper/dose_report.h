// The dose report: one JSON object that says what a run really got.
//
//   {"abi":4,"hello":true,"end":"exit"|"died"|"exec"|"unwatched",
//    "settings":{"code":"shuffle","stack":"on","heap":"page","seed":"0x2a","epoch_ns":500000000,
//                "stack_range_bytes":4096,"helper":"launched"|"standalone"},
//    "code":{"layouts_built":N,"layouts_executed":N,"functions":N,"functions_moved":N,
//            "library_functions":N,"library_functions_moved":N,
//            "not_moved":{"foreign":N,...},      reasons that occur, words of abi::kImmovableWords
//            "image_bytes":N,"slots":N,"build_ns":N,"publish_ns":N,"retire_ns":N,
//            "scans":N,"scan_ns":N,"searches":N,"search_ns":N,"looks":N,"looks_in_doubt":N,
//            "ticks_held":N,"ticks_unentered":N,"stayers":N,"libraries_stay":N,
//            "pointers_led":N,                                                  if code is direct
//            "text_hash":"0x...","text_address":N,"ring_address":N,"slot_bytes":N,    where images were mapped
//            "script":{"hash":"0x...","placed":N,"counted":N,"match_rows":N,"matched":N},    if it followed one
//            "long_loops":{"functions":N,"points":N,"unled_branches":N,"holds_table":N,"no_point":N,"no_loop":N,
//                          "full":N}},                                                if loops were to be led
//    "stack":{"slots":N,"slots_zeroed":N,"library_slots":N,"library_slots_zeroed":N,"refills":N},
//    "heap":{"mallocs":N,"bytes":N,"mallocs_mmapped":N,"bytes_mmapped":N,"largest_mmapped":N,"layouts":N,"turns":N,
//            "served_by":"stab"|"program"|"library"|"libc"},   whose malloc it was, unless heap is off
//    "region":{"regions":N,"wall_ns":N,"cpu_ns":N,"layouts":N},   sums, if the program had any
//    "progress":{"points":[{"name":TEXT,"kind":"progress"|"begin"|"end"|"arrival","visits":N},...],
//                "rows":N,"threads_sharing":N,"points_dropped":N,"visits_dropped":N},   if a point was visited
//    "helper":{"cpu_ns":N,"start_ns":N,"start_cpu_ns":N,"minor_faults":N,"major_faults":N,"ticks":N,"ticks_late":N,
//              "epochs_by":"cpu"|"wall"},
//    "degradations":["words",...],
//    "libraries":[{"path":"/usr/lib/libwork.so.1","text_hash":"0x...","drawn_by":"0x...","text_address":N,"ring_address":N,
//                  "slot_bytes":N,"first_image":N},...],"libraries_untold":N}   shared libraries that moved, where they lay last
//
// A helper whose program never said hello (it is no program of ours, or it died before main) writes
// {"abi":4,"hello":false}. Fields are only ever added.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/layout_script.h"
#include "runtime/code/long_loops.h"
#include "runtime/control.h"
#include "runtime/progress/board.h"
#include "runtime/settings_abi.h"

namespace stab::helper {

inline constexpr size_t kReportBytes = 32 * 1024;

// kUnwatched: there is no helper; written at the start.
enum class End : uint8_t { kExit, kDied, kExec, kUnwatched };

// A shared library that moved, as it lay when it was loaded last.
struct MovedFile {
  char path[512];             // as it is mapped; empty: not known, or not to be written without escapes
  uint64_t text_hash;         // CodeHeader::text_hash
  uint64_t drawn_by;          // what its layouts are drawn by, with seed and image
  uint64_t text_address;      // of CodeHeader::text_start
  uint64_t ring_address;
  uint64_t slot_bytes;
  uint32_t first_image;       // number of the image in place when it came
};

struct HelperUse {
  uint64_t cpu_ns = 0;
  uint64_t start_ns = 0;      // wall time from the greeting until main could begin
  uint64_t start_cpu_ns = 0;  // the helper's own CPU time until then
  uint64_t minor_faults = 0;
  uint64_t major_faults = 0;
  uint64_t ticks = 0;
  uint64_t ticks_late = 0;
  uint64_t text_hash = 0;     // CodeHeader::text_hash: which binary's code it moved
  const code::LayoutScript* script = nullptr;  // that it followed
  const code::LongLoops* loops = nullptr;      // that it led; nullptr: nobody asked for it
  uint32_t matched = 0;       // functions that were placed by a match table
  uint32_t placed_in_libraries = 0;  // by the script
  const MovedFile* moved_files = nullptr;
  uint32_t moved_file_count = 0;
  uint32_t pointers_led = 0;  // words of data and instructions that hold or make the address of a copy
  bool counts_cpu = false;    // epochs are of the program's CPU time
  bool launched = false;
};

// Returns the bytes written to `to`, which holds kReportBytes; the text ends with a newline.
// counts: what the board says; nullptr: there was none.
size_t write_report(const abi::Settings& settings, const Control& control, const HelperUse& use, End end, char* to,
                    const progress::Counts* counts = nullptr);
size_t write_no_hello(char* to);

// Adds the functions that a script counts to what the board says, as points of kind progress.
void add_entries(const code::LayoutScript& script, const Control& control, progress::Counts& counts);

}  // namespace stab::helper
