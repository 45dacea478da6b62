// The shared libraries that the two sides of `stabctl explain` bring along.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace stab::ctl {

using LibrariesOfSides = std::array<std::vector<std::string>, 2>;

// The paths of those that the first and the last build of an experiment find when they run, by base/own_libraries.h: in their own
// search paths, and in the plan's LD_LIBRARY_PATH. None of a program that can't be read.
Result<LibrariesOfSides> libraries_of_sides(store::Store& store, const store::ExperimentRow& row);

// Whether both bring the same files, by name, byte for byte.
bool are_same_files(const LibrariesOfSides& libraries);

}  // namespace stab::ctl
