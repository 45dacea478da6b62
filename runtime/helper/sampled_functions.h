// SampledFunctions: where the program's CPU time goes, by function, image and epoch; for the laboratory, where it asks.
//
// A software clock of the kernel runs for each CPU that the program may use, of the program's own CPU time, inherited by its
// threads and children. No signal is involved; what a sample costs is one interrupt of the program, some microseconds in a
// millisecond of its CPU time. Which image a sample lay in is only known until its slot is used again, so samples are
// taken out of the kernel's rings before each new image.
#pragma once

#include <stdint.h>

#include "runtime/code/stayers.h"
#include "runtime/control.h"
#include "runtime/helper/epoch_record.h"
#include "runtime/helper/family.h"
#include "runtime/helper/images.h"
#include "runtime/helper/sampled_files.h"

namespace stab::helper {

class SampledFunctions {
 public:
  // Between two calls of take() at most this: a ring holds more than twice as much.
  static constexpr uint64_t kTakeEveryNs = 250'000'000;

  // pre: images are published, if any are, and the main thread is the program's only one. False: the kernel refuses.
  bool begin(const Family& family, const Images& images);
  // Nothing is sampled any more; what was, is kept.
  void end();
  bool is_on() const { return ring_count_ > 0; }
  // Whether something is told behind the report; also where nothing could be sampled.
  void promise() { is_promised_ = true; }

  // As SampledFiles has it; nothing where nothing is sampled.
  uint32_t note_library(const Process& process, const Module& module, int descriptor) {
    return is_on() ? files_.note_library(process, module, descriptor) : SampledFiles::kNone;
  }

  // As SampledFiles has it.
  const char* path_of(uint32_t file) const { return files_.path_of(file); }

  // Takes what has been sampled. `newest` is the slot that it counts as of.
  void take(const Family& family, Images& images);
  void write_sums(EpochRecord& record) const;

  // A look at the threads begins; then: it has found a frame of this function in a retired image.
  void begin_look() { ++looks_; }
  void saw_stay(uint32_t function, uint32_t image, uint32_t epoch);

  // Behind what was written there before; `code` is the executable's, which may be absent.
  void write_to(int fd, const code::Metadata& code, uint64_t text_hash);

 private:
  static constexpr uint32_t kMostRings = 128;
  struct Ring {
    int event = -1;
    uint8_t* mapped = nullptr;
  };
  struct Counts {
    uint32_t newest, older, original;
  };

  // Where a sample lay in a module: in which function, if it is one that its metadata has.
  struct Counted {
    bool found = false;
    SampledIn in = SampledIn::kNewest;
    uint32_t function = 0;
  };

  bool open_ring(int pid, int cpu, bool exclude_kernel);
  void take_ring(Ring& ring, const Family& family, Images& images);
  void count_in(Module& module, const code::Ring& ring, uint64_t pc, Counted& out) const;
  void count(const Process& process, uint64_t pc, Images& images);

  bool is_promised_ = false;
  Ring rings_[kMostRings];
  uint32_t ring_count_ = 0;
  Counts* counts_ = nullptr;  // by function of the executable
  SampledFiles files_;        // all others
  uint64_t now_ns_ = 0;       // when what is being taken is taken
  uint64_t newest_ = 0, older_ = 0, original_ = 0, elsewhere_ = 0, kernel_ = 0, lost_ = 0;
  bool was_begun_ = false;
  uint32_t looks_ = 0;
  uint32_t stayed_count_ = 0;
  StayedFunction* stayed_ = nullptr;
};

}  // namespace stab::helper
