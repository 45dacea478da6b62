// Why one of our own programs was not started for a submitter, and what to do about it.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::engine {

// `why` is what the kernel or the launcher said. Its code stays.
Error start_error(const std::string& program, const Error& why);

}  // namespace stab::engine
