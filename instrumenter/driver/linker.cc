// A name says who links where Debian's packages give it. `ld` may be an alternative, and the argument of --ld-path a script that
// runs another: these are asked, and answer as what they run.
#include "instrumenter/driver/linker.h"

namespace stab::driver {
namespace {

// "Debian LLD 19.1.7 (compatible with GNU linkers)", "LLD 23.0.0git (...)": of version 19, not of 1.
bool is_lld_of(std::string_view line, const std::string& version) {
  const std::string begin = "LLD " + version;
  const size_t at = line.find(begin);
  if (at == line.npos) return false;
  const std::string_view rest = line.substr(at + begin.size());
  return rest.empty() || rest.front() == '.' || rest.front() == ' ';
}

}  // namespace

LinkerKind kind_by_path(std::string_view path, const Llvm& llvm) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "ld.lld-" + llvm.version || path == llvm.bin + "/ld.lld") return LinkerKind::kOurLld;
  if (name == "ld.gold") return LinkerKind::kGold;
  if (name == "ld.bfd") return LinkerKind::kOther;
  return LinkerKind::kUnknown;
}

LinkerKind kind_by_version(std::string_view text, const Llvm& llvm) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (is_lld_of(line, llvm.version)) return LinkerKind::kOurLld;
  if (line.find("LLD ") != line.npos) return LinkerKind::kOtherLld;
  if (line.find("GNU gold") != line.npos) return LinkerKind::kGold;
  return line.find("mold") != line.npos ? LinkerKind::kMold : LinkerKind::kOther;
}

}  // namespace stab::driver
