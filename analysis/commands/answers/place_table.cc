#include "analysis/commands/answers/place_table.h"

#include <array>
#include <cstdio>

namespace stab::commands {

std::string address_text(uint64_t address, PlaceDetail detail) {
  std::array<char, 96> text{};
  const auto number = static_cast<unsigned long long>(address);
  switch (detail) {
    case PlaceDetail::kAll:
      std::snprintf(text.data(), text.size(), "0x%llx (%llu, %llu, %llu)", number, number % 32, number % 64, number % 4096);
      break;
    case PlaceDetail::kPage: std::snprintf(text.data(), text.size(), "0x%llx (%llu)", number, number % 4096); break;
    case PlaceDetail::kAddress:
    case PlaceDetail::kNameAlone: std::snprintf(text.data(), text.size(), "0x%llx", number); break;
  }
  return text.data();
}

const char* place_title(PlaceDetail detail) {
  switch (detail) {
    case PlaceDetail::kAll: return "old place (mod 32, 64, 4096)";
    case PlaceDetail::kPage: return "old place (mod 4096)";
    case PlaceDetail::kAddress:
    case PlaceDetail::kNameAlone: break;
  }
  return "old place";
}

}  // namespace stab::commands
