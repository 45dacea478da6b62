// Libraries whose link bound stab_stack to a definition of their own, as a version script with `local: *` does.
#pragma once

namespace stab::api {

// Leads what such a library reads to the program's record. `inside`: an address in the library, whose constructor runs. False:
// post-link has left no mark where it reads, or the page can't be written.
bool lead_to_record(const void* inside);

}  // namespace stab::api
