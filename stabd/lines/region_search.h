// What stab-lines does: a request answered from the files that it names.
#pragma once

#include <string>

#include "stabd/lines/wire/lines_wire.h"

namespace stab::lines {

// Never fails as a whole but for an answer that would be too large: what can't be read of a module is said of it.
Answer answer(const Request& request, const std::string& debug_folder);

}  // namespace stab::lines
