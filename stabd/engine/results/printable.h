// What is a stranger's, for a terminal or a log: base/printable.h by its names here.
#pragma once

#include "base/printable.h"

namespace stab::engine {

using stab::one_line;
using stab::printable;

}  // namespace stab::engine
