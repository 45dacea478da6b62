#include "base/own_libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/read_at.h"
#include "base/split.h"
#include "base/unique_fd.h"

namespace stab {
namespace {

constexpr size_t kMostSegments = 4096, kMostEntries = 1 << 16, kMostNames = 16 << 20, kMostLibraries = 1000, kMostPlaces = 100;

// Nobody can make us wait for it.
Result<UniqueFd> open_program(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (!file || ::fstat(file.get(), &info) != 0) return system_error("open '" + path + "'", errno);
  if (!S_ISREG(info.st_mode)) return bad_input("'" + path + "' is not a regular file");
  return file;
}

std::vector<Elf64_Phdr> segments_of(int fd) {
  Elf64_Ehdr header{};
  if (!read_at(fd, &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostSegments) return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_at(fd, segments.data(), segments.size() * sizeof(Elf64_Phdr), header.e_phoff)) return {};
  return segments;
}

std::vector<Elf64_Dyn> entries_of(int fd, const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    std::vector<Elf64_Dyn> entries(std::min<uint64_t>(segment.p_filesz / sizeof(Elf64_Dyn), kMostEntries));
    if (!read_at(fd, entries.data(), entries.size() * sizeof(Elf64_Dyn), segment.p_offset)) return {};
    const auto end = std::find_if(entries.begin(), entries.end(), [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
    entries.erase(end, entries.end());
    return entries;
  }
  return {};
}

// The names that the entries refer to.
std::string names_of(int fd, const std::vector<Elf64_Phdr>& segments, const std::vector<Elf64_Dyn>& entries) {
  uint64_t address = 0, bytes = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
  }
  if (bytes > kMostNames) return {};
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
    std::string names(bytes, '\0');
    return read_at(fd, names.data(), bytes, segment.p_offset + (address - segment.p_vaddr)) ? names : std::string();
  }
  return {};
}

// An empty one is the working folder, but no path at all is none.
std::vector<std::string> folders_of(std::string_view path) {
  if (path.empty()) return {};
  const std::vector<std::string_view> parts = split(path, ':');
  return {parts.begin(), parts.end()};
}

// ld.so(8), "Dynamic string tokens". Of the others nothing is known here.
constexpr std::string_view kOrigins[] = {"$ORIGIN", "${ORIGIN}"};

std::string with_origin(std::string text, const std::string& origin) {
  for (const std::string_view token : kOrigins) {
    for (size_t at = text.find(token); at != std::string::npos; at = text.find(token, at + origin.size()))
      text.replace(at, token.size(), origin);
  }
  return text;
}

// Breadth first, as ld.so loads them.
class Search {
 public:
  Search(std::string_view search_path, std::string directory) : directory_(std::move(directory)) {
    for (const std::string& place : folders_of(search_path)) add_place(place);
  }

  void run(const std::string& program) {
    look_at(program);
    for (size_t i = 0; i < found_.size(); ++i) look_at(std::string(found_[i]));
  }
  const std::vector<std::string>& found() const { return found_; }
  const std::vector<std::string>& of_working_folder() const { return of_working_folder_; }

 private:
  void look_at(const std::string& path) {
    const Result<UniqueFd> file = open_program(path);
    if (!file.ok()) return;
    const NeededLibraries needed = needed_libraries(file->get());
    const std::string origin = std::filesystem::path(absolute(path)).parent_path();
    for (const std::string& place : needed.directories) add_place(with_origin(place, origin));
    for (const std::string& name : needed.names) find(with_origin(name, origin));
  }

  std::string absolute(const std::string& path) const { return path.starts_with('/') ? path : directory_ + "/" + path; }

  void add_place(const std::string& place) {
    const std::string path = absolute(place);
    if (places_.size() < kMostPlaces && std::find(places_.begin(), places_.end(), path) == places_.end())
      places_.push_back(path);
  }

  // Each name is looked for once, as by ld.so. A search path of one library serves all that are found later: more than ld.so
  // looks at, never less.
  void find(const std::string& name) {
    if (names_.size() >= kMostLibraries || !names_.insert(name).second) return;
    if (name.find('/') != std::string::npos) {
      if (!name.starts_with('/')) of_working_folder_.push_back(name);
      found_.push_back(absolute(name));
      return;
    }
    for (const std::string& place : places_) {
      std::string path = place + "/" + name;
      if (::access(path.c_str(), F_OK) != 0) continue;
      found_.push_back(std::move(path));
      return;
    }
  }

  std::string directory_;
  std::vector<std::string> places_, found_, of_working_folder_;
  std::set<std::string> names_;
};

}  // namespace

NeededLibraries needed_libraries(int fd) {
  const std::vector<Elf64_Phdr> segments = segments_of(fd);
  const std::vector<Elf64_Dyn> entries = entries_of(fd, segments);
  const std::string names = names_of(fd, segments, entries);
  NeededLibraries out;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_un.d_val >= names.size()) continue;
    const std::string_view name(names.c_str() + entry.d_un.d_val);
    if (entry.d_tag == DT_NEEDED && name.size() < PATH_MAX && out.names.size() < kMostLibraries) out.names.emplace_back(name);
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) out.directories = folders_of(name);
  }
  return out;
}

namespace {

Result<Search> search_for(const std::string& program, std::string_view search_path, const std::string& directory) {
  STAB_TRY([[maybe_unused]] const UniqueFd file, open_program(program));
  Search search(search_path, directory);
  search.run(program);
  return search;
}

}  // namespace

bool searches_beside_itself(const std::string& program) {
  const Result<UniqueFd> file = open_program(program);
  if (!file.ok()) return false;
  const std::vector<std::string> places = needed_libraries(file->get()).directories;
  return std::any_of(places.begin(), places.end(),
                     [](const std::string& place) { return !place.starts_with('/') || with_origin(place, "") != place; });
}

Result<std::vector<std::string>> own_libraries(const std::string& program, std::string_view search_path,
                                               const std::string& directory) {
  STAB_TRY(const Search search, search_for(program, search_path, directory));
  return search.found();
}

Result<std::vector<std::string>> libraries_of_working_folder(const std::string& program, std::string_view search_path,
                                                             const std::string& directory) {
  STAB_TRY(const Search search, search_for(program, search_path, directory));
  return search.of_working_folder();
}

}  // namespace stab
