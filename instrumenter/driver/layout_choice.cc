// The pass gets places by an environment variable: it is the one way that reaches clang, flang, and the linker that optimizes.
#include "instrumenter/driver/layout_choice.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "instrumenter/pass/places_variable.h"

namespace stab::driver {

Result<std::optional<LayoutChoice>> choose_layout(const CommandLine& line, const std::string& cpu) {
  LayoutChoice choice;
  choice.path = line.layout_file;
  if (const char* text = getenv("STAB_LINK_LAYOUT"); choice.path.empty() && text != nullptr) choice.path = text;
  if (choice.path.empty()) return std::optional<LayoutChoice>();
  STAB_TRY(choice.file, advice::read_layout_file(choice.path));
  STAB_CHECK_OK(advice::check_cpu(choice.file, cpu, choice.path));
  return std::optional(std::move(choice));
}

std::string places_text(const advice::LayoutFile& file) {
  std::string out;
  for (const advice::FixedPlace& place : file.places)
    out += place.function + " " + std::to_string(place.modulus) + " " + std::to_string(place.remainder) + "\n";
  return out;
}

Status tell_places(const advice::LayoutFile& file) {
  if (setenv(kPlacesVariable, places_text(file).c_str(), 1) != 0) return system_error("set the environment", errno);
  return {};
}

Result<UniqueFd> ordering_file(const advice::LayoutFile& file) {
  if (file.order.empty()) return UniqueFd();
  std::string text;
  for (const std::string& function : file.order) text += function + "\n";
  UniqueFd memory(memfd_create("stab-order", 0));  // inherited
  if (!memory || write(memory.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("make a file in memory", errno);
  return memory;
}

std::string path_of(const UniqueFd& ordering) { return "/proc/self/fd/" + std::to_string(ordering.get()); }

}  // namespace stab::driver
