#include "base/version.h"

namespace stab {

std::string_view version() { return STAB_VERSION; }

}  // namespace stab
