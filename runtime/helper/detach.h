// Cutting a helper loose from everything it inherited.
#pragma once

namespace stab::helper {

// Closes all descriptors but these (-1: none), leaves the session, the directory, and every signal
// disposition that the program may have set or inherited. Pipes that the program's readers wait on end with the
// program, terminals don't reach the helper, and no file system stays busy because of it.
void detach(int keep, int keep_too, int keep_as_well = -1, int keep_at_last = -1);

}  // namespace stab::helper
