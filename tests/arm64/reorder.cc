// Puts an image of an arm64 executable's functions into it, in an order that is drawn, and says where each one went.
//
//     reorder_arm64 FROM TO SEED [DISTANCE]
//
// The image becomes one more segment and the section stab_image, DISTANCE bytes (default: 1 MiB) behind what the file has in
// memory, and the canonical entries lead to it. So whatever calls a function, by its name or a pointer, runs the copy. On
// standard output, a line each, numbers in hexadecimal: moved START BYTES COPY ROOM NAME; stays START BYTES WHY NAME; slot START
// BYTES; veneers COUNT; islands COUNT.
#include <elf.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "instrumenter/postlink/aarch64/arm64_program.h"
#include "runtime/arch/aarch64/instruction.h"

namespace {

namespace arm = stab::arch::aarch64;

constexpr uint64_t kNear = uint64_t{1} << 20, kReach = uint64_t{1} << 27, kSegmentAlign = 65536;

[[noreturn]] void fail(const std::string& why) {
  std::cerr << "reorder_arm64: " << why << '\n';
  std::exit(2);
}

template <typename T>
T get(const std::string& file, uint64_t offset) {
  T value;
  if (offset + sizeof value > file.size()) fail("a header beyond the file's end");
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

template <typename T>
void put(std::string& file, uint64_t offset, const T& value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
}

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

uint64_t memory_end(const std::string& file) {
  const auto header = get<Elf64_Ehdr>(file, 0);
  uint64_t end = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto segment = get<Elf64_Phdr>(file, header.e_phoff + static_cast<uint64_t>(i) * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_vaddr + segment.p_memsz);
  }
  return end;
}

// One more segment, in the place of the one that says whether stacks are executed, and one more section, so that a disassembler
// looks at it.
void append_image(std::string& file, const std::vector<uint8_t>& image, uint64_t address) {
  auto header = get<Elf64_Ehdr>(file, 0);
  file.resize(round_up(file.size(), kSegmentAlign) + address % kSegmentAlign);
  const uint64_t offset = file.size();
  file.append(reinterpret_cast<const char*>(image.data()), image.size());
  bool is_placed = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    const uint64_t at = header.e_phoff + static_cast<uint64_t>(i) * sizeof(Elf64_Phdr);
    if (get<Elf64_Phdr>(file, at).p_type != PT_GNU_STACK) continue;
    put(file, at, Elf64_Phdr{PT_LOAD, PF_R | PF_X, offset, address, address, image.size(), image.size(), kSegmentAlign});
    is_placed = true;
  }
  if (!is_placed) fail("no program header to replace");

  const uint64_t names_at = header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr);
  auto names = get<Elf64_Shdr>(file, names_at);
  const std::string old_names = file.substr(names.sh_offset, names.sh_size);
  const std::string sections = file.substr(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  names.sh_offset = file.size();
  names.sh_size = old_names.size() + sizeof "stab_image";
  file += old_names + std::string("stab_image", sizeof "stab_image");
  file.resize(round_up(file.size(), 8));
  header.e_shoff = file.size();
  file += sections;
  put(file, header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr), names);
  const Elf64_Shdr section{static_cast<uint32_t>(old_names.size()),
                           SHT_PROGBITS,
                           SHF_ALLOC | SHF_EXECINSTR,
                           address,
                           offset,
                           image.size(),
                           0,
                           0,
                           16,
                           0};
  file.append(reinterpret_cast<const char*>(&section), sizeof section);
  ++header.e_shnum;
  put(file, 0, header);
}

void tell(const stab::postlink::Arm64Program& program, const stab::code::ImageScratch& scratch, const arm::Place& place) {
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const auto& f = program.functions[i];
    if (f.immovable == stab::abi::Immovable::kNo)
      std::cout << "moved " << place.text + f.start << ' ' << f.bytes << ' ' << place.slot + scratch.body[i] << ' '
                << uint32_t{scratch.room[i]} << ' ' << program.names[i] << '\n';
    else
      std::cout << "stays " << place.text + f.start << ' ' << f.bytes << ' '
                << stab::abi::kImmovableWords[static_cast<size_t>(f.immovable)] << ' ' << program.names[i] << '\n';
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 4 || count > 5) fail("usage: reorder_arm64 FROM TO SEED [DISTANCE]");
  std::ifstream in(words[1], std::ios::binary);
  std::stringstream read;
  read << in.rdbuf();
  if (!in) fail(std::string("can't read ") + words[1]);
  std::string file = read.str();
  uint64_t seed = 0, distance = kNear;
  for (const auto& [word, value] :
       {std::pair{words[3], &seed}, std::pair{count == 5 ? words[4] : words[3], count == 5 ? &distance : &seed}}) {
    const char* const end = word + std::strlen(word);
    if (std::from_chars(word, end, *value).ptr != end) fail(std::string("not a number: ") + word);
  }

  const auto program = stab::postlink::read_arm64_program(file, distance >= kReach / 2);
  if (!program) fail(program.error().text());
  const arm::Program view = program->view();
  arm::Place place;
  place.text = program->text_start;
  place.slot = round_up(memory_end(file) + distance, kSegmentAlign);

  std::vector<uint8_t> memory(stab::code::scratch_bytes(view.code));
  std::vector<uint8_t> text(file.begin() + static_cast<std::ptrdiff_t>(program->text_offset),
                            file.begin() + static_cast<std::ptrdiff_t>(program->text_offset + program->text_bytes));
  auto scratch = stab::code::bind_scratch(view.code, memory.data());
  uint64_t room = stab::code::slot_bytes(view.code);
  if (room == 0) fail("too large to move");
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t islands = arm::island_bytes(view, text.data(), scratch.order[i]);
    scratch.room[scratch.order[i]] = static_cast<uint8_t>(islands);
    room += islands;
  }
  room += program->fields.size() * arm::kVeneerBytes;
  std::vector<uint8_t> image(room);
  stab::LayoutRng rng(seed, stab::kRngCode, 0);
  const uint64_t used = stab::code::place_image(view.code, stab::abi::CodeMode::kShuffle, rng, scratch);
  const arm::Written written = arm::build_image(view, text.data(), place, scratch, used, image.data(), room);
  if (written.bytes == 0)
    fail(std::string(written.refusal.why == arm::Refusal::Why::kReach ? "out of reach: " : "no room: ") +
         program->names[written.refusal.function] + "+" + std::to_string(written.refusal.at));
  if (!arm::publish(view, place, scratch, text.data())) fail("a canonical entry doesn't reach its copy");
  std::memcpy(file.data() + program->text_offset, text.data(), text.size());
  image.resize(written.bytes);
  append_image(file, image, place.slot);
  std::ofstream out(words[2], std::ios::binary);
  out.write(file.data(), static_cast<std::streamsize>(file.size()));
  out.close();
  if (!out) fail(std::string("can't write ") + words[2]);
  std::cout << std::hex;
  tell(*program, scratch, place);
  std::cout << "slot " << place.slot << ' ' << written.bytes << "\nveneers " << written.veneers << "\nislands " << written.islands
            << '\n';
  return 0;
}
