// Writing an image of arm64 code; image.h says what it consists of.
#include "runtime/arch/aarch64/image.h"

#include <string.h>

namespace stab::arch::aarch64 {
namespace {

// The copies' side of one image while it is written.
class Writer {
 public:
  Writer(const Program& program, const uint8_t* text, const Place& place, const code::ImageScratch& scratch, uint64_t used,
         uint8_t* out, uint64_t room)
      : program_(program),
        text_(text),
        place_(place),
        scratch_(scratch),
        out_(out),
        room_(room),
        pool_((used + kInstructionBytes - 1) / kInstructionBytes * kInstructionBytes),
        end_(pool_) {}

  Written write() {
    for (uint32_t i = 0; i < scratch_.order_count && written_.refusal.why == Refusal::Why::kNone; ++i)
      write_function(scratch_.order[i]);
    written_.bytes = written_.refusal.why == Refusal::Why::kNone ? end_ : 0;
    return written_;
  }

 private:
  using Why = Refusal::Why;

  const abi::CodeFunction& function(uint32_t index) const { return program_.code.functions[index]; }

  // Where a field leads in this image.
  uint64_t target(const Field& field) const {
    if (field.kind == FieldKind::kFixed) return field.target;
    const auto index = static_cast<uint32_t>(field.target);
    return scratch_.entry[index] != 0 ? place_.slot + scratch_.entry[index] : place_.text + function(index).start;
  }

  // A place behind all functions that leads to `target`; 0: the slot is full, or it is beyond 4 GiB.
  uint64_t veneer_to(uint64_t target) {
    for (uint64_t at = pool_; at < end_; at += kVeneerBytes) {
      uint64_t there = target_of(get_word(out_ + at), place_.slot + at);
      there += get_word(out_ + at + 4) >> 10 & 0xfff;
      if (there == target) return place_.slot + at;
    }
    if (end_ + kVeneerBytes > room_ || !put_veneer(out_ + end_, place_.slot + end_, target)) return 0;
    end_ += kVeneerBytes;
    ++written_.veneers;
    return place_.slot + end_ - kVeneerBytes;
  }

  // Corrects the instruction at `at` of a body; `island` is the next free one behind it.
  Why correct(const Field& field, uint32_t body, uint32_t& island) {
    uint8_t* const at = out_ + body + field.at;
    const uint64_t address = place_.slot + body + field.at;
    const uint64_t to = target(field);
    uint32_t word = get_word(at);
    const Relative relative = relative_of(word);
    uint64_t way = to;
    if (!lead_to(word, address, to)) {
      if (relative == Relative::kBranch) {
        way = veneer_to(to);
        if (way == 0) return Why::kNoRoom;
      } else if (is_conditional(relative)) {
        // Not a veneer: x16 may be alive where a branch doesn't end in a call.
        uint32_t branch = kBranch;
        way = place_.slot + island;
        if (!lead_to(branch, way, to)) return Why::kReach;
        put_word(out_ + island, branch);
        island += kInstructionBytes;
        ++written_.islands;
      }
      if (!lead_to(word, address, way)) return Why::kReach;
    }
    put_word(at, word);
    return Why::kNone;
  }

  void write_function(uint32_t index) {
    const abi::CodeFunction& f = function(index);
    const uint32_t body = scratch_.body[index];
    if (uint64_t{body} + f.bytes + scratch_.room[index] > room_) {
      written_.refusal = {Why::kNoRoom, index, 0};
      return;
    }
    memcpy(out_ + body, text_ + f.start, f.bytes);
    uint32_t island = body + f.bytes;
    for (uint32_t i = f.first_directed; i < f.first_directed + f.directed_count; ++i) {
      const Field& field = program_.fields[i];
      if (const Why why = correct(field, body, island); why != Why::kNone) {
        written_.refusal = {why, index, field.at};
        return;
      }
    }
  }

  const Program& program_;
  const uint8_t* const text_;
  const Place& place_;
  const code::ImageScratch& scratch_;
  uint8_t* const out_;
  const uint64_t room_;
  const uint64_t pool_;
  uint64_t end_;
  Written written_;
};

constexpr uint32_t kMostEntryWords = 4;

// The words of a canonical entry that leads to `copy`; their number, 0: it is out of reach.
uint32_t entry_words(uint32_t first, uint64_t address, uint64_t copy, uint32_t* words) {
  uint32_t count = 0;
  if (is_landing_pad(first)) words[count++] = kBtiC;
  uint32_t branch = kBranch;
  if (lead_to(branch, address + count * kInstructionBytes, copy)) {
    words[count++] = branch;
    return count;
  }
  uint8_t veneer[kVeneerBytes];
  if (!put_veneer(veneer, address + count * kInstructionBytes, copy)) return 0;
  for (uint32_t at = 0; at < kVeneerBytes; at += kInstructionBytes) words[count++] = get_word(veneer + at);
  return count;
}

}  // namespace

uint32_t island_bytes(const Program& program, const uint8_t* text, uint32_t function) {
  const abi::CodeFunction& f = program.code.functions[function];
  uint32_t bytes = 0;
  for (uint32_t i = f.first_directed; i < f.first_directed + f.directed_count; ++i) {
    const Field& field = program.fields[i];
    if (is_conditional(relative_of(get_word(text + f.start + field.at)))) bytes += kInstructionBytes;
  }
  return bytes;
}

Written build_image(const Program& program, const uint8_t* text, const Place& place, const code::ImageScratch& scratch,
                    uint64_t used, uint8_t* out, uint64_t room) {
  return Writer(program, text, place, scratch, used, out, room).write();
}

bool publish(const Program& program, const Place& place, const code::ImageScratch& scratch, uint8_t* text) {
  uint32_t words[kMostEntryWords];
  const auto make_entry = [&](uint32_t index) {
    const uint32_t start = program.code.functions[index].start;
    return entry_words(get_word(text + start), place.text + start, place.slot + scratch.entry[index], words);
  };
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t count = make_entry(scratch.order[i]);
    if (count == 0 || count * kInstructionBytes > program.code.functions[scratch.order[i]].bytes) return false;
  }
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t count = make_entry(scratch.order[i]);
    for (uint32_t k = 0; k < count; ++k)
      put_word(text + program.code.functions[scratch.order[i]].start + k * kInstructionBytes, words[k]);
  }
  return true;
}

}  // namespace stab::arch::aarch64
