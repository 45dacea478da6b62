// What stab-lines takes from itself before it reads a byte.
#pragma once

namespace stab::lines {

// From here on it can open files for reading, compute, write what is open, and end; for anything else it is ended by SIGSYS.
// What failed, or nullptr.
const char* confine();

}  // namespace stab::lines
