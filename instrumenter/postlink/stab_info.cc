// Printing stab_code: how much of a program moves, what doesn't and why, its tables and pads. Works on any
// ELF file; without metadata it says what is missing and how to get it.
#include "instrumenter/postlink/stab_info.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "instrumenter/postlink/code_view.h"
#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/frames.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/pads.h"
#include "instrumenter/postlink/post_link.h"
#include "instrumenter/postlink/probes.h"
#include "instrumenter/postlink/shortfalls.h"
#include "instrumenter/postlink/walkers.h"
#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

struct Group {
  uint64_t bytes = 0;
  std::vector<std::string> names;
};

std::string line(const char* key, const std::string& value) {
  char text[64];
  snprintf(text, sizeof text, "%-12s", key);
  return text + value + "\n";
}

std::string percent(uint64_t part, uint64_t whole) {
  char text[32];
  snprintf(text, sizeof text, "%.1f %%", whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string describe_pads(const ElfImage& image) {
  const Section* pads = image.find_section(abi::kPadsSection);
  if (pads == nullptr) return line("pads", "none: no function has a pad");
  size_t recursive = 0;
  for (size_t at = 0; at + 4 <= pads->bytes.size(); at += 4) {
    const auto slot = read_as<uint32_t>(pads->bytes.data() + at);
    recursive += (slot & abi::kPadRecursive) != 0;
  }
  const size_t count = pads->bytes.size() / 4;
  if (const std::string why = why_pads_are_held(image); !why.empty())
    return line("pads", std::to_string(count) + ", all 0, as " + why);
  return line("pads", std::to_string(count) + ", of these " + std::to_string(recursive) + " in recursive functions");
}

std::string name_of(const FunctionTable& names, uint64_t address) {
  if (const auto found = names.starting_at(address); found && !names[*found].name.empty()) return std::string(names[*found].name);
  char text[32];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

// What crtbegin.o brings to each program, [begin, end): its functions have no sizes, and nobody wrote them. None if stripped.
std::pair<uint64_t, uint64_t> start_file_of(const ElfImage& image) {
  constexpr uint64_t kLast = 16;  // frame_dummy jumps to one of the others
  uint64_t begin = 0, end = 0;
  for (const Symbol& symbol : image.symbols()) {
    if (symbol.name == "deregister_tm_clones") begin = symbol.value;
    if (symbol.name == "frame_dummy") end = symbol.value + kLast;
  }
  return begin < end ? std::pair(begin, end) : std::pair(uint64_t{0}, uint64_t{0});
}

// Code between the functions that have a size: assembly without one. What fills gaps in front of aligned functions is shorter.
uint64_t bytes_without_size(const ElfImage& image, const CodeView& code) {
  constexpr uint64_t kLongestFill = 64;
  const auto [start_file, start_file_end] = start_file_of(image);
  uint64_t bytes = 0;
  for (const Section& section : image.sections()) {
    if (!section.executable() || section.name.starts_with(".plt")) continue;
    const uint64_t section_end = section.header.sh_addr + section.header.sh_size;
    uint64_t at = section.header.sh_addr;
    const auto add = [&bytes](uint64_t from, uint64_t end) {
      if (end > from + kLongestFill) bytes += end - from;
    };
    const auto add_up_to = [&](uint64_t end) {
      if (start_file < at || start_file_end > end) return add(at, end);
      add(at, start_file);
      add(start_file_end, end);
    };
    for (const abi::CodeFunction& function : code.functions) {
      const uint64_t start = code.header.text_start + function.start;
      if (function.bytes == 0 || start < at || start >= section_end) continue;
      add_up_to(start);
      at = start + function.bytes;
    }
    add_up_to(section_end);
  }
  return bytes;
}

// What our runtime adds to each program says nothing of the program.
std::string describe_share(const std::map<abi::Immovable, Group>& groups, uint64_t all_bytes, uint64_t without_size) {
  const auto bytes_of = [&groups](abi::Immovable reason) {
    const auto group = groups.find(reason);
    return group == groups.end() ? 0 : group->second.bytes;
  };
  const uint64_t own_bytes = all_bytes - bytes_of(abi::Immovable::kRuntime) + without_size;
  std::string text = line("own", percent(bytes_of(abi::Immovable::kNo), own_bytes) + " of the " + std::to_string(own_bytes) +
                                     " bytes that aren't Stab's runtime move");
  if (without_size > 0)
    text += line("of these", std::to_string(without_size) + " bytes lie in no function with a size, as assembly's may, and stay");
  return text;
}

// Of backward branches, the share that an activation can be led from one layout to another at.
std::string describe_loops(const CodeView& code) {
  if (code.loops.empty()) return "";
  size_t shorts = 0, led = 0, unled = 0, holders = 0, held = 0;
  for (const uint32_t point : code.points) shorts += abi::is_short_point(point);
  for (const abi::LoopRecord& record : code.loops) {
    const bool holds = record.stay == abi::LoopStay::kHoldsTable;
    holders += holds;
    led += record.point_count > 0;
    (holds ? held : unled) += record.unled;
  }
  return line("loops", std::to_string(led) + " functions can be led at " + std::to_string(code.points.size()) + " points, " +
                           std::to_string(shorts) + " of them short; " + std::to_string(unled) +
                           " backward branches pass none") +
         line("", std::to_string(holders) + " functions with " + std::to_string(held) +
                      " backward branches may hold addresses of their jump tables");
}

// Of which functions the addresses can be led to copies where a run has one layout.
std::string describe_pointers(const CodeView& code) {
  if ((code.header.flags & abi::kCodePointers) == 0) return "";
  std::set<uint32_t> led;
  for (const abi::PointerSlot& slot : code.pointer_slots) led.insert(slot.target);
  for (const abi::PointerField& field : code.pointer_fields) led.insert(field.target);
  return line("pointers", "to " + std::to_string(led.size()) + " functions lead to their copies with code = \"direct\": " +
                              std::to_string(code.pointer_slots.size()) + " words of data, " +
                              std::to_string(code.pointer_fields.size()) + " instructions");
}

std::string describe_functions(const ElfImage& image, const CodeView& code, const std::vector<std::string>& runtime_names) {
  const FunctionTable names = FunctionTable::read(image, false, {});
  std::map<abi::Immovable, Group> groups;
  Group leaving;
  uint64_t all_bytes = 0;
  for (const abi::CodeFunction& function : code.functions) {
    const std::string name = name_of(names, code.header.text_start + function.start);
    const bool is_runtimes = function.immovable == abi::Immovable::kForeign &&
                             std::binary_search(runtime_names.begin(), runtime_names.end(), name);
    Group& group = groups[is_runtimes ? abi::Immovable::kRuntime : function.immovable];
    group.bytes += function.bytes;
    all_bytes += function.bytes;
    group.names.push_back(name);
    if (function.immovable == abi::Immovable::kNo && (function.flags & abi::kLeaves) != 0) {
      leaving.bytes += function.bytes;
      leaving.names.push_back(group.names.back());
    }
  }
  const Group& moving = groups[abi::Immovable::kNo];
  std::string text =
      line("functions", std::to_string(code.functions.size()) + ", " + std::to_string(moving.names.size()) +
                            " movable: " + percent(moving.bytes, all_bytes) + " of " +
                            std::to_string(all_bytes) + " bytes");
  text += describe_share(groups, all_bytes, bytes_without_size(image, code));
  if (!leaving.names.empty()) {
    text += line("of these", std::to_string(leaving.names.size()) + " functions, " + std::to_string(leaving.bytes) + " bytes, " +
                                 percent(leaving.bytes, all_bytes) +
                                 " go on in their original where they jump through labels that are values");
    for (const std::string& name : leaving.names) text += "    " + name + "\n";
  }
  if (names.has_nameless())
    text += line("nameless", "symbols were left out (ld -x, objcopy): other compilers' functions without one aren't known, "
                             "and stay");
  text += line("tables", std::to_string(code.tables.size()) + " jump tables, " +
                             std::to_string(code.targets.size()) + " entries");
  text += line("fix-ups", std::to_string(code.directed.size()) + " directed, " +
                              std::to_string(code.fixed.size()) + " fixed");
  if (!image.is_shared_library()) text += describe_loops(code) + describe_pointers(code);  // the executable's alone are led
  for (const auto& [reason, group] : groups) {
    if (reason == abi::Immovable::kNo) continue;
    text += line(abi::kImmovableWords[static_cast<size_t>(reason)],
                 " " + std::to_string(group.names.size()) + " functions, " + std::to_string(group.bytes) + " bytes, " +
                     percent(group.bytes, all_bytes));
    if (reason == abi::Immovable::kRuntime) continue;  // the same in each program
    for (const std::string& name : group.names) text += "    " + name + "\n";
  }
  return text;
}

Shares shares_of(const CodeView& code) {
  Shares shares;
  for (const abi::CodeFunction& function : code.functions) shares.count(function.immovable);
  return shares;
}

std::string describe_shortfalls(const Shortfalls& lacking) {
  std::string text;
  const auto add = [&text](const char* factor, const std::string& why) {
    if (!why.empty()) text += line("lacks", std::string(factor) + ": " + why);
  };
  add("code", lacking.code);
  add("stack", lacking.stack);
  add("heap", lacking.heap);
  return text;
}

std::string describe_probes(const ElfImage& image, const CodeView& code) {
  const auto moves = [&code](uint64_t address) {
    const auto after = std::upper_bound(code.functions.begin(), code.functions.end(), address - code.header.text_start,
                                        [](uint64_t at, const abi::CodeFunction& function) { return at < function.start; });
    if (after == code.functions.begin()) return false;
    const abi::CodeFunction& function = *(after - 1);
    return function.immovable == abi::Immovable::kNo && address - code.header.text_start - function.start < function.bytes;
  };
  const std::string probes = moving_probes(image, moves);
  if (probes.empty()) return "";
  return line("probes", probes + ", in code that moves: a tracer's breakpoint there is never reached while STAB_CODE is on");
}

// lld writes no unwind entries for stubs. Whoever unwinds from a signal that came inside of one ends there.
std::string describe_stubs(const ElfImage& image) {
  const std::vector<Frame> frames = read_frames(image);
  uint64_t bytes = 0;
  for (const Section& section : image.sections()) {
    if (!section.executable() || !section.name.starts_with(".plt") || section.header.sh_size == 0) continue;
    const bool told = std::any_of(frames.begin(), frames.end(), [&section](const Frame& frame) {
      return frame.start <= section.header.sh_addr && frame.end() > section.header.sh_addr;
    });
    if (!told) bytes += section.header.sh_size;
  }
  if (bytes == 0) return "";
  return line("stubs", std::to_string(bytes) + " bytes of calls into libraries have no unwind entry, so a stack taken by a "
                       "signal there ends; -fno-plt makes none, and -fuse-ld=bfd writes entries");
}

std::string describe_match(const ElfImage& image, const CodeView& code) {
  if (code.header.text_start != image.text_start() || code.header.text_bytes != image.text().size())
    return line("text", "its size changed after post-link: the program runs unmoved");
  const auto hashed =
      image.text().subspan(code.functions.empty() ? image.text().size() : code.functions.front().start);
  if (code.header.text_hash != abi::hash64(hashed.data(), hashed.size()))
    return line("text", "its bytes changed after post-link: the program runs unmoved");
  return line("text", std::to_string(image.text().size()) + " bytes, as post-link left it");
}

}  // namespace

Result<std::string> describe(const std::string& path, const std::vector<std::string>& runtime_names) {
  STAB_TRY(auto bytes, read_file(path));
  STAB_TRY(const auto image, ElfImage::parse(std::move(bytes), path));
  std::string text = line("file", path);
  const Section* section = image.find_section(abi::kCodeSection);
  if (section == nullptr) {
    std::string code = "no ";
    code.append(abi::kCodeSection).append(": nothing moves; link with szc and glibc, or run stab-postlink");
    text += line("code", code);
    return text + describe_pads(image);
  }
  // The file may hold the section at any offset; the view needs alignment.
  const std::vector<uint64_t> aligned = [section] {
    std::vector<uint64_t> words((section->bytes.size() + 7) / 8);
    if (!section->bytes.empty()) __builtin_memcpy(words.data(), section->bytes.data(), section->bytes.size());
    return words;
  }();
  STAB_TRY(const auto code,
           CodeView::parse({reinterpret_cast<const uint8_t*>(aligned.data()), section->bytes.size()}));
  if (image.is_shared_library())
    text += line("note", "a library: its code moves in programs that szc has linked, except where dlmopen loads it");
  text += line("abi", std::to_string(code.header.version));
  text += describe_match(image, code);
  text += line("metadata", std::to_string(section->bytes.size()) + " bytes, " +
                               percent(section->bytes.size(), image.text().size()) + " of the text");
  if (code.header.flags & abi::kCodeSwitchesStacks) text += line("stacks", "the program switches stacks");
  if (code.header.flags & abi::kCodeWalked) {
    const std::string_view walker = code_walker_in(image);
    text += line("walked", (walker.empty() ? "a language runtime" : std::string(walker)) +
                               " walks code addresses: what our drivers didn't compile stays");
  }
  text += describe_shortfalls(find_shortfalls(image, shares_of(code)));
  text += describe_probes(image, code) + describe_stubs(image);
  return text + describe_pads(image) + describe_functions(image, code, runtime_names);
}

}  // namespace stab::postlink
