// See replaced_text.h. The kernel says whose memory lies at an address: one question an epoch, as all of the text is one mapping
// as a rule. What was copied while images changed may lead to several; all their slots stay as they are from now on.
#include "runtime/helper/replaced_text.h"

#include <string.h>
#include <sys/stat.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/look.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

bool leads_into_ring(const Session& session, const uint8_t* entry, uint64_t address) {
  return arch::is_near_jump(entry) && session.looks.looker.rings.slot_of(arch::near_jump_target(entry, address)) != 0;
}

}  // namespace

bool has_replaced_text(const Session& session, const Module& module) {
  const int memory = module.is_library ? session.images.libraries.memory_fd : session.images.memory_fd;
  struct stat ours;
  if (sys::call(SYS_fstat, memory, sys::word(&ours)) != 0) return false;
  const uint64_t end = module.place.text + module.text_bytes;
  for (uint64_t at = module.place.text; at < end;) {
    Mapping mapping;
    if (!find_mapping(session.family.program, at, session.looks.looker.buffer, mapping)) return false;  // it has just ended
    if (mapping.file != ours.st_ino) return true;
    at = mapping.end;
  }
  return false;
}

void leave_replaced_text(Session& session, const Module& module) {
  const code::Metadata& code = module.code;
  const int memory = session.family.program.memory;
  for (uint32_t i = 0; i < code.header->function_count; ++i) {
    const abi::CodeFunction& f = code.functions[i];
    if (f.immovable != abi::Immovable::kNo) continue;
    const uint32_t start = f.start & ~7u;
    const uint64_t address = module.place.text + start;
    uint8_t word[8];
    if (sys::pread_full(memory, word, sizeof word, address) != sizeof word) continue;
    if (!leads_into_ring(session, word + f.start % 8, address + f.start % 8)) continue;
    memcpy(word + f.start % 8, module.original + f.start, arch::kNearJumpBytes);
    sys::pwrite(memory, word, sizeof word, address);
  }
}

}  // namespace stab::helper
