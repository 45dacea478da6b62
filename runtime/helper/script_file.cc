#include "runtime/helper/script_file.h"

#include "runtime/sys.h"

namespace stab::helper {
namespace {

using code::ScriptFault;

size_t text_bytes(const char* bytes, size_t most) {
  size_t at = 0;
  while (at < most && bytes[at] != 0) ++at;
  return at;
}

bool read_table(int file, uint64_t offset, const code::LayoutScript& script, code::MatchTable& out) {
  const size_t bytes = size_t{script.match_rows} * sizeof(code::MatchRow);
  if (bytes == 0) return code::read_match(nullptr, 0, script.match_hash, out);
  void* memory = sys::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(memory)) return false;
  return sys::pread_full(file, memory, bytes, offset) == static_cast<long>(bytes) &&
         code::read_match(memory, script.match_rows, script.match_hash, out);
}

}  // namespace

code::ScriptVerdict read_script_file(int file, abi::CodeMode mode, ScriptFile& out) {
  const long got = sys::pread_full(file, out.text, sizeof out.text, 0);
  if (got < 0) return {ScriptFault::kUnreadable, 0};
  const size_t read = static_cast<size_t>(got), bytes = text_bytes(out.text, read);
  out.text_bytes = bytes;
  code::ScriptVerdict verdict = code::parse_script(out.text, bytes, out.script);
  if (verdict.fault == ScriptFault::kNone) verdict = code::suits_mode(out.script, mode);
  if (verdict.fault != ScriptFault::kNone) return verdict;
  // A byte 0 is the end of the text only where a table follows.
  if (!out.script.has_match_table) return bytes < read ? code::ScriptVerdict{ScriptFault::kTooLong, 0} : verdict;
  if (!read_table(file, bytes + 1, out.script, out.match)) return {ScriptFault::kNoTable, out.script.match_line};
  return verdict;
}

}  // namespace stab::helper
