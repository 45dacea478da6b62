// What stab-layout takes from itself before it reads a byte of anybody's.
#pragma once

namespace stab::layout {

// pre: every file that it reads is open. From here on it can read what is open, compute, write what is open, and end; for
// anything else it is ended by SIGSYS. What failed, or nullptr.
const char* confine();

}  // namespace stab::layout
