// Samples in files other than the executable, over several trials, by function: "libfoo.so.1!inflate".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stabd/engine/trial/epoch_series.h"

namespace stab::engine {

struct LibraryFunction {
  std::string name;     // with its file's; the file's alone: what lies in none of its functions that has a name
  bool moved = false;   // code of its file was put elsewhere
  uint64_t linked = 0;  // link-time address, 0: of no function
  uint64_t bytes = 0;
  bool is_several = false;   // its file has several functions of this name, and samples are those of all
  uint64_t samples = 0;
  uint64_t in_images = 0;  // of those, in copies of the function: it moves
  uint64_t file_hash = 0;  // of its file's code; 0: not known

  std::string file() const { return name.substr(0, name.find('!')); }
};

class LibrarySamples {
 public:
  void add(const FunctionProfile& profile);
  // All of them, and those in code that stays where the loader has put it.
  uint64_t samples() const { return samples_; }
  uint64_t unmoved() const { return unmoved_; }
  // The most sampled first. Functions of files of one name, which are different builds of a library, stand once for each build.
  std::vector<LibraryFunction> functions() const;

 private:
  std::map<std::pair<std::string, uint64_t>, LibraryFunction> of_;  // by name and the hash of the file's code
  uint64_t samples_ = 0, unmoved_ = 0;
};

}  // namespace stab::engine
