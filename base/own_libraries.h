// The shared libraries that a program brings along.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab {

// What a dynamic section says about libraries (System V ABI, "Dynamic Section"): DT_NEEDED, and DT_RPATH or DT_RUNPATH.
struct NeededLibraries {
  std::vector<std::string> names, directories;
};

// Of an ELF file of 64 bits. Nothing: it is none, or says none. Whatever it says, at most 18 MiB of it are read.
NeededLibraries needed_libraries(int fd);

// Whether a folder of its own search path is named from the one that it lies in ($ORIGIN), or from the one that it is started in:
// a copy elsewhere, or started elsewhere, finds other libraries, or none.
bool searches_beside_itself(const std::string& program);

// The files of the libraries that ld.so would find for this program below its own search paths and `search_path`, which is as in
// LD_LIBRARY_PATH, and of those that they need. Names are relative to `directory`. The system's are not among them: all programs
// have the same.
Result<std::vector<std::string>> own_libraries(const std::string& program, std::string_view search_path,
                                               const std::string& directory);

// The names by which the program and those libraries need one that ld.so looks for from the folder in which the program is
// started, and in no search path: "./libwork.so", as a linker writes it that was given this name.
Result<std::vector<std::string>> libraries_of_working_folder(const std::string& program, std::string_view search_path,
                                                             const std::string& directory);

}  // namespace stab
