// Finding our parts: the build tree and the install tree look the same, so everything is relative to the
// running executable, whatever link to it was called.
#include "instrumenter/driver/toolchain.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace stab::driver {
namespace {

std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_executable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::string find_on_path(const std::string& name) {
  const char* path = getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view() : path;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + name;
    if (is_executable(candidate)) return candidate;
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return {};
}

// Whether a triple may begin so. What stands in front of a driver's name may be anything.
bool names_processor(std::string_view word) {
  constexpr std::string_view kBegins[] = {"x86_64", "amd64", "i386", "i486",  "i586",  "i686",  "aarch64",   "arm", "riscv",
                                          "powerpc", "ppc",  "mips", "s390x", "sparc", "wasm",  "loongarch", "m68k"};
  const std::string_view processor = word.substr(0, word.find('-'));
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return processor.starts_with(begin); });
}

// LLVM 19 still says flang-new.
std::vector<std::string> names_of_compiler(Language language) {
  if (language == Language::kFortran) return {"flang", "flang-new"};
  return {language == Language::kCxx ? "clang++" : "clang"};
}

// Empty if it is not installed.
std::string find_compiler(const Llvm& llvm, Language language) {
  for (const std::string& name : names_of_compiler(language)) {
    const std::string on_path = find_on_path(name + "-" + llvm.version);
    if (!on_path.empty()) return on_path;
    if (is_executable(llvm.bin + "/" + name)) return llvm.bin + "/" + name;
  }
  return {};
}

Result<std::string> our_root() {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return system_error("read '/proc/self/exe'", errno);
  self[length] = 0;
  return parent(parent(self));
}

// Resolved, once each; nothing where there is no such file.
void add_part(const std::string& path, std::vector<std::string>& parts) {
  std::error_code error;
  const std::string file = std::filesystem::canonical(path, error).string();
  if (error || !std::filesystem::is_regular_file(file, error)) return;
  if (std::find(parts.begin(), parts.end(), file) == parts.end()) parts.push_back(file);
}

// The files right below a folder whose names begin so, sorted.
void add_parts_below(const std::string& folder, std::string_view begin, std::vector<std::string>& parts) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(begin)) files.push_back(at->path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) add_part(file, parts);
}

Error missing(const std::string& what, std::string_view cure) {
  return {ErrorCode::kNotFound, what + " is missing; " + std::string(cure), {}};
}

Error no_compiler(const Llvm& llvm, Language language) {
  const std::string of_version = "-" + llvm.version;
  const std::string name = names_of_compiler(language).front() + of_version;
  const std::string package = (language == Language::kFortran ? "flang" : "clang") + of_version;
  const std::string packages = package + " lld" + of_version;
  return missing(name, "install it: apt install " + packages + ", or put it where '" + llvm.folder + "/bin' leads");
}

}  // namespace

DriverName DriverName::read(std::string_view name) {
  // Versions are digits and points behind the last dash.
  std::string_view version;
  const size_t dash = name.rfind('-');
  if (dash != name.npos && dash + 1 < name.size() && name.find_first_not_of("0123456789.", dash + 1) == name.npos)
    version = name.substr(dash + 1), name = name.substr(0, dash);
  Language language = Language::kC;
  if (name.find("++") != name.npos) language = Language::kCxx;
  else if (name.find("flang") != name.npos || name.find("fortran") != name.npos) language = Language::kFortran;
  const size_t end = name.rfind('-');
  const bool has_target = end != name.npos && names_processor(name) && name.find('-') < end;
  const bool is_ours = name.ends_with("szc") || name.ends_with("szc++") || name.ends_with("szflang");
  return {language, std::string(has_target ? name.substr(0, end) : ""), std::string(is_ours ? version : "")};
}

Result<Toolchain> Toolchain::find(std::string_view program_name, std::string_view llvm) {
  STAB_TRY(const std::string root, our_root());
  Toolchain tools;
  const DriverName name = DriverName::read(program_name);
  tools.language = name.language;
  tools.target = name.target;
  STAB_TRY(tools.llvm, Llvm::find(root, llvm.empty() ? name.llvm : llvm));
  tools.compiler = find_compiler(tools.llvm, tools.language);
  if (tools.compiler.empty()) return no_compiler(tools.llvm, tools.language);
  tools.pass_plugin = tools.llvm.pass_plugin();
  tools.runtime = root + "/lib/stab/stabrt.o";
  tools.static_runtime = root + "/lib/stab/libstabrt-static.a";
  tools.operators = root + "/lib/stab/stabnew.o";
  tools.library_entry = root + "/lib/stab/stablib.o";
  tools.include = root + "/include";
  tools.post_linker = root + "/bin/stab-postlink";
  for (const std::string& part : {tools.pass_plugin, tools.runtime, tools.static_runtime, tools.operators,
                                  tools.library_entry, tools.post_linker})
    if (access(part.c_str(), R_OK) != 0) return missing("'" + part + "'", "build or install Stab again");
  return tools;
}

Result<std::vector<std::string>> parts_of_builds() {
  STAB_TRY(const std::string root, our_root());
  std::vector<std::string> parts;
  for (const char* part : {"/bin/szc", "/bin/stab-postlink", "/libexec/stab/link-with-szc"}) add_part(root + part, parts);
  for (const char* folder : {"/lib/stab", "/lib/cmake/Stab", "/include/stab"}) add_parts_below(root + folder, "", parts);
  std::vector<std::string> tools;
  for (const Llvm& llvm : Llvm::all(root)) {
    add_part(llvm.pass_plugin(), parts);
    for (const Language language : {Language::kC, Language::kCxx, Language::kFortran})
      add_part(find_compiler(llvm, language), tools);
    // clang looks for its linker beside itself, then on the PATH.
    for (const std::string& linker : {llvm.bin + "/ld.lld", find_on_path("ld.lld-" + llvm.version)}) add_part(linker, tools);
  }
  for (const char* linker : {"ld.gold", "ld.bfd", "ld.mold"}) add_part(find_on_path(linker), tools);
  for (const std::string& tool : tools) add_part(tool, parts);
  for (const std::string& tool : tools)
    for (const char* library : {"libLLVM.so", "libclang-cpp.so"}) add_parts_below(parent(parent(tool)) + "/lib", library, parts);
  return parts;
}

}  // namespace stab::driver
