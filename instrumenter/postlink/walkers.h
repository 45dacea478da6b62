// Walkers: language runtimes in a program that look code addresses up in tables of their own.
#pragma once

#include <string_view>

#include "instrumenter/postlink/elf_image.h"

namespace stab::postlink {

// How the section's name begins in which -fexperimental-sanitize-metadata lists functions by their addresses and sizes.
inline constexpr std::string_view kListOfSanitizers = "sanmd_covered";

// What the runtime is called, such as "Go"; empty if none is known to be in the image.
std::string_view code_walker_in(const ElfImage& image);

}  // namespace stab::postlink
