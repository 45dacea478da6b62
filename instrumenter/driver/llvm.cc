// Which LLVMs there are is what the folder says: a package may add one.
#include "instrumenter/driver/llvm.h"

#include <algorithm>
#include <filesystem>

namespace stab::driver {
namespace {

constexpr std::string_view kFolder = "llvm-";

std::string folder_of_all(const std::string& root) { return root + "/lib/stab"; }

// Empty if there is no such file.
std::string real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? std::string() : real.string();
}

std::string list_of(const std::vector<Llvm>& all) {
  std::string text;
  for (const Llvm& one : all) text += (text.empty() ? "" : ", ") + one.version;
  return text;
}

// As STAB_LLVM names it: Debian's by its number, one that somebody built by its folder.
std::string build_name_of(const Llvm& llvm) {
  const bool is_number = llvm.version.find_first_not_of("0123456789") == std::string::npos;
  return is_number || llvm.bin.empty() ? llvm.version : std::filesystem::path(llvm.bin).parent_path().string();
}

// With all that there are, so that none of them is lost, and the default stays the first.
Error not_built_for(std::string_view named, const std::vector<Llvm>& all, const std::string& default_folder) {
  std::string before, behind;
  for (const Llvm& one : all) (real_path(one.folder) == default_folder ? before : behind) += build_name_of(one) + ";";
  return {ErrorCode::kNotFound, "Stab is not built for LLVM '" + std::string(named) + "', but for " + list_of(all) +
          "; name one of these, or build Stab with -DSTAB_LLVM='" + before + behind + std::string(named) + "'", {}};
}

}  // namespace

std::vector<Llvm> Llvm::all(const std::string& root) {
  std::error_code error;
  std::vector<Llvm> found;
  for (std::filesystem::directory_iterator at(folder_of_all(root), error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kFolder))
      found.push_back({name.substr(kFolder.size()), at->path().string(), real_path(at->path().string() + "/bin")});
  }
  std::sort(found.begin(), found.end(), [](const Llvm& a, const Llvm& b) { return a.version < b.version; });
  return found;
}

Result<Llvm> Llvm::find(const std::string& root, std::string_view named) {
  const std::vector<Llvm> all = Llvm::all(root);
  if (all.empty())
    return Error{ErrorCode::kNotFound, "'" + folder_of_all(root) + "' has no pass for any LLVM; build or install Stab again", {}};
  const bool is_folder = named.find('/') != named.npos;
  const std::string wanted = named.empty() ? real_path(folder_of_all(root) + "/llvm") : real_path(std::string(named) + "/bin");
  for (const Llvm& one : all) {
    if (named.empty() && real_path(one.folder) == wanted) return one;
    if (is_folder && !wanted.empty() && one.bin == wanted) return one;
    if (!is_folder && one.version == named) return one;
  }
  if (named.empty())
    return Error{ErrorCode::kNotFound, "'" + folder_of_all(root) + "/llvm' leads to no pass; build or install Stab again", {}};
  return not_built_for(named, all, real_path(folder_of_all(root) + "/llvm"));
}

}  // namespace stab::driver
