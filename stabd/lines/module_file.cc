// A file may be anybody's: it is looked at before it is read, never waited for, and mapped as a whole. Who shortens it meanwhile
// ends this process, which says as much as an error would.
#include "stabd/lines/module_file.h"

#include <fcntl.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/BuildID.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/CRC.h>
#include <llvm/Support/DataExtractor.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/unique_fd.h"

namespace stab::lines {
namespace {

constexpr off_t kMostFileBytes = off_t{8} << 30;

std::string_view view(llvm::StringRef text) { return {text.data(), text.size()}; }

}  // namespace

Result<FileBytes> FileBytes::open(const std::string& path) {
  // Of a pipe or a device nobody waits for the other end.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return system_error("open '" + path + "'", errno);
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return system_error("look at '" + path + "'", errno);
  if (!S_ISREG(info.st_mode)) return bad_input("'" + path + "' is no regular file");
  if (info.st_size == 0 || info.st_size > kMostFileBytes)
    return bad_input("'" + path + "' has " + std::to_string(info.st_size) + " bytes; expected 1 to 8 GiB");
  void* const at = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) return system_error("map '" + path + "'", errno);
  return FileBytes(at, static_cast<size_t>(info.st_size));
}

FileBytes::FileBytes(FileBytes&& other) noexcept : at_(std::exchange(other.at_, nullptr)), size_(other.size_) {}
FileBytes::~FileBytes() {
  if (at_ != nullptr) ::munmap(at_, size_);
}

Result<ModuleFacts> facts_of(std::string_view bytes) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "module");
  auto object = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!object) {
    llvm::consumeError(object.takeError());
    return bad_input("no ELF file");
  }
  const auto* const elf = llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(object->get());
  if (elf == nullptr || elf->getELFFile().getHeader().e_machine != llvm::ELF::EM_X86_64) return bad_input("no 64-bit x86 "
      "program");
  ModuleFacts facts;
  auto segments = elf->getELFFile().program_headers();
  if (!segments) {
    llvm::consumeError(segments.takeError());
    return bad_input("an ELF file whose program headers can't be read");
  }
  for (const auto& segment : *segments)
    if (segment.p_type == llvm::ELF::PT_LOAD && (segment.p_flags & llvm::ELF::PF_X) != 0 &&
        segment.p_vaddr + segment.p_memsz > segment.p_vaddr)
      facts.executable.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_memsz});
  std::sort(facts.executable.begin(), facts.executable.end(), [](const Segment& a, const Segment& b) {
      return a.begin < b.begin; });
  const llvm::object::BuildIDRef id = llvm::object::getBuildID(object->get());
  facts.build_id = llvm::toHex(id, /*LowerCase=*/true);
  for (const llvm::object::SectionRef& section : (*object)->sections()) {
    auto name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (*name == ".debug_line" || *name == ".zdebug_line") facts.has_line_table = section.getSize() > 0;
    if (*name != ".gnu_debuglink") continue;
    auto content = section.getContents();
    if (!content) {
      llvm::consumeError(content.takeError());
      continue;
    }
    const llvm::DataExtractor data(*content, /*IsLittleEndian=*/true, 8);
    uint64_t at = 0;
    const char* const text = data.getCStr(&at);
    at = (at + 3) & ~uint64_t{3};
    if (text == nullptr || !data.isValidOffsetForDataOfSize(at, 4) || view(text).find('/') != std::string_view::npos) continue;
    facts.debug_link = text;
    facts.debug_link_crc = data.getU32(&at);
  }
  return facts;
}

std::vector<std::string> debug_paths(const std::string& path, const ModuleFacts& facts, const std::string& debug_folder) {
  std::vector<std::string> paths;
  if (facts.build_id.size() > 2)
    paths.push_back(debug_folder + "/.build-id/" + facts.build_id.substr(0, 2) + "/" + facts.build_id.substr(2) + ".debug");
  if (facts.debug_link.empty()) return paths;
  const std::string folder = path.substr(0, path.rfind('/'));
  paths.push_back(folder + "/" + facts.debug_link);
  paths.push_back(folder + "/.debug/" + facts.debug_link);
  paths.push_back(debug_folder + folder + "/" + facts.debug_link);
  return paths;
}

Result<std::string> find_debug_file(const std::string& path, const ModuleFacts& facts, const std::string& debug_folder) {
  for (const std::string& candidate : debug_paths(path, facts, debug_folder)) {
    const auto file = FileBytes::open(candidate);
    if (!file) continue;
    const auto found = facts_of(file->bytes());
    if (!found || !found->has_line_table) continue;
    const llvm::StringRef bytes(file->bytes().data(), file->bytes().size());
    const bool is_same = facts.build_id.empty() && found->build_id.empty()
                             ? llvm::crc32(llvm::arrayRefFromStringRef(bytes)) == facts.debug_link_crc
                             : facts.build_id == found->build_id;
    if (is_same) return candidate;
  }
  return Error{ErrorCode::kNotFound, "no debug file", {}};
}

}  // namespace stab::lines
