// Targets: which machine a command makes code for, as the compiler itself says.
#pragma once

#include <string>
#include <string_view>

namespace stab::driver {

// The triple in what `compiler -### arguments` printed; empty: it says none.
std::string target_of(const std::string& steps);

// Whether Stab is for that target: x86-64 Linux with pointers of 64 bits and glibc. The pass decides the same for each module.
bool is_our_target(std::string_view triple);

// Whether it would be ours but for its C library: whoever names musl may not know that it matters.
bool is_only_of_another_libc(std::string_view triple);

}  // namespace stab::driver
