// The build tree mirrors the install tree (docs/contributors/architecture.md), so one rule serves both: everything is found
// from /proc/self/exe, nothing from the environment.
#include "stabd/host/installation.h"

#include <unistd.h>

#include <filesystem>

#include "base/architecture.h"

namespace stab::host {
namespace {

namespace fs = std::filesystem;

Status must_run(const std::string& path) {
  if (::access(path.c_str(), X_OK) == 0) return {};
  return Error{ErrorCode::kNotFound, "'" + path + "' is missing; build or install all of stab", {}};
}

Status must_be_read(const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return {};
  return Error{ErrorCode::kNotFound, "'" + path + "' is missing; build or install all of stab", {}};
}

}  // namespace

Result<Installation> installation_at(const std::string& root) {
  Installation found{root + "/bin", root + "/libexec/stab/stab-launcher", root + "/libexec/stab/stab-helper",
                     root + "/libexec/stab/stab-broker", root + "/libexec/stab/stab-worker",
                     root + "/libexec/stab/stab-layout", root + "/libexec/stab/stab-lines",
                     root + "/libexec/stab/stab-causal", root + "/lib/stab/libstabcausal.so", root + "/lib/stab/libstabheap.so",
                     root + "/lib/stab/libstabhost.so"};
  STAB_CHECK_OK(must_run(found.launcher));
  if (kHasLayouts) STAB_CHECK_OK(must_run(found.helper));
  STAB_CHECK_OK(must_run(found.broker));
  STAB_CHECK_OK(must_run(found.worker));
  if (kHasLayouts) STAB_CHECK_OK(must_run(found.layout));
  return found;
}

Status check_causal_parts(const Installation& installation) {
  STAB_CHECK_OK(check_layouts());
  STAB_CHECK_OK(must_run(installation.lines));
  STAB_CHECK_OK(must_run(installation.causal));
  return must_be_read(installation.causal_library);
}

Status check_preloaded_parts(const Installation& installation) {
  STAB_CHECK_OK(check_layouts());
  STAB_CHECK_OK(must_be_read(installation.heap));
  return must_be_read(installation.host);
}

Result<Installation> find_installation() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return system_error("read /proc/self/exe", error.value());
  const fs::path folder = self.parent_path();  // bin, or libexec/stab
  const fs::path root = folder.filename() == "stab" ? folder.parent_path().parent_path() : folder.parent_path();
  return installation_at(root.string());
}

}  // namespace stab::host
