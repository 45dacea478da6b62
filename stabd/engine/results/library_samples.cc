#include "stabd/engine/results/library_samples.h"

#include <algorithm>

namespace stab::engine {

void LibrarySamples::add(const FunctionProfile& profile) {
  for (const SampledFile& file : profile.files) {
    samples_ += file.samples();
    if (!file.moved) unmoved_ += file.samples();
    uint64_t rest = file.samples();
    const auto add = [&](const std::string& name, uint64_t linked, uint64_t bytes, uint64_t samples, uint64_t in_images) {
      LibraryFunction& function = of_[{name, file.text_hash}];
      function.is_several |= !function.name.empty() && function.linked != linked;
      function.name = name;
      function.moved = file.moved;
      function.linked = linked;
      function.bytes = bytes;
      function.samples += samples;
      function.in_images += in_images;
      function.file_hash = file.text_hash;
    };
    for (const SampledFile::Function& function : file.functions) {
      add(name_in_file(file, function), function.linked, function.bytes, function.samples(),
          uint64_t{function.newest} + function.older);
      rest -= std::min(rest, function.samples());
    }
    if (rest > 0) add(file.file, 0, 0, rest, 0);
  }
}

std::vector<LibraryFunction> LibrarySamples::functions() const {
  std::vector<LibraryFunction> out;
  for (const auto& [key, function] : of_) out.push_back(function);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return out;
}

}  // namespace stab::engine
