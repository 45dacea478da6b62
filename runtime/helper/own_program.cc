// The entry of the helper's own program. No libc is linked to it, since it is a part of every measured program.
#include "runtime/helper/own_program.h"

#include <sys/prctl.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/session.h"
#include "runtime/sys.h"

extern "C" {

[[noreturn, gnu::used]] void stab_own_program() {
  stab::sys::call(SYS_prctl, PR_SET_NAME, stab::sys::word("stab-helper"));
  stab::helper::Task task;
  task.socket = stab::helper::kOwnProgramSocket;
  stab::sys::exit_process(stab::helper::serve(task));
}

[[gnu::naked, noreturn]] void _start() {
  STAB_BEGIN_PROGRAM("stab_own_program");
}

}  // extern "C"
