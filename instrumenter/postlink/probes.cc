// A note of type 3 named "stapsdt" has three addresses, of the probe, of the section .stapsdt.base as it was linked, and of a
// semaphore, and then three texts: provider, name, arguments. prelink moves that section and not the notes.
#include "instrumenter/postlink/probes.h"

#include <cstring>

namespace stab::postlink {
namespace {

constexpr std::string_view kSection = ".note.stapsdt";
constexpr uint32_t kType = 3;

uint64_t aligned(uint64_t bytes) { return (bytes + 3) & ~uint64_t{3}; }

std::string_view text_at(std::span<const uint8_t> bytes, size_t at) {
  if (at >= bytes.size()) return {};
  const char* text = reinterpret_cast<const char*>(bytes.data() + at);
  return {text, strnlen(text, bytes.size() - at)};
}

Probe probe_of(const ElfImage& image, std::span<const uint8_t> content) {
  const Section* base = image.find_section(".stapsdt.base");
  const auto linked_base = read_as<uint64_t>(content.data() + 8);
  const uint64_t shift = base == nullptr ? 0 : base->header.sh_addr - linked_base;
  const std::string_view provider = text_at(content, 24);
  const std::string_view name = text_at(content, 24 + provider.size() + 1);
  return {std::string(provider) + ":" + std::string(name), read_as<uint64_t>(content.data()) + shift};
}

}  // namespace

std::vector<Probe> read_probes(const ElfImage& image) {
  std::vector<Probe> probes;
  const Section* section = image.find_section(kSection);
  if (section == nullptr) return probes;
  std::span<const uint8_t> rest = section->bytes;
  while (rest.size() >= sizeof(Elf64_Nhdr)) {
    const auto header = read_as<Elf64_Nhdr>(rest.data());
    const uint64_t content_at = sizeof header + aligned(header.n_namesz);
    const uint64_t end = content_at + aligned(header.n_descsz);
    if (content_at + header.n_descsz > rest.size()) break;
    if (header.n_type == kType && header.n_descsz >= 24)
      probes.push_back(probe_of(image, rest.subspan(content_at, header.n_descsz)));
    rest = rest.subspan(std::min<uint64_t>(end, rest.size()));
  }
  return probes;
}

std::string moving_probes(const ElfImage& image, const std::function<bool(uint64_t)>& moves) {
  size_t count = 0;
  std::string first;
  for (const Probe& probe : read_probes(image))
    if (moves(probe.address) && count++ == 0) first = probe.name;
  if (count == 0) return {};
  return std::to_string(count) + (count == 1 ? " probe, " : " probes, ") + first + (count == 1 ? "" : " the first");
}

}  // namespace stab::postlink
