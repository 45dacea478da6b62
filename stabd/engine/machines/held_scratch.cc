#include "stabd/engine/machines/held_scratch.h"

#include <filesystem>

#include "stabd/engine/separation/places.h"

namespace stab::engine {
namespace {

bool is_of_a_worker(const std::string& name) { return name.starts_with(kWorkFolders) || name.starts_with(kShareFolders); }

}  // namespace

std::string remove_abandoned_scratch(const std::string& below, const LeftoverLimits& limits) {
  const auto hold_left = [](const std::string& path) {
    return is_of_a_worker(std::filesystem::path(path).filename().string()) ? hold_scratch(path) : UniqueFd();
  };
  return remove_held({below}, "workers", hold_left, remove_tree, limits);
}

}  // namespace stab::engine
