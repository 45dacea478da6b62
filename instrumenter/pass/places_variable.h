// How szc tells its pass where functions are to start.
#pragma once

namespace stab {

// A line "NAME MODULUS REMAINDER" for each function, names as the linker knows them.
inline constexpr char kPlacesVariable[] = "STAB_PLACES";

}  // namespace stab
