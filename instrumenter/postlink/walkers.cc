// Recognizing runtimes that walk stacks by tables of return addresses, to find the roots of a moving garbage collector,
// handlers, or whose time it is. A return address in a copy is in none of their tables: such a program would stop, or
// lose objects, long after the move. They are told by what no other program has: a section or symbol of their tables.
//
// Exceptions by the system's unwinder are no such walk, as that asks our runtime for what it finds in a copy; nor are
// interpreters, nor generated code outside of the file, which is no part of the text.
#include "instrumenter/postlink/walkers.h"

#include <algorithm>

namespace stab::postlink {
namespace {

struct Walker {
  std::string_view name;
  std::string_view mark;
  enum Kind { kSection, kSectionPrefix, kSymbol, kSymbolPrefix } kind;
};

constexpr Walker kWalkers[] = {
    {"Go", ".gopclntab", Walker::kSection},
    {"Go", "runtime.pclntab", Walker::kSymbol},
    {"Go", "go:buildinfo", Walker::kSymbol},
    {"gccgo", "__go_init_main", Walker::kSymbol},      // a deferred function asks whether its return address is recover's
    {"OCaml", "caml_frametable", Walker::kSymbol},
    {"OCaml", "caml_system__frametable", Walker::kSymbol},
    {"GHC", "stg_upd_frame_info", Walker::kSymbol},    // its return addresses have their description in front of them
    {"V8", "v8_Default_embedded_blob_", Walker::kSymbolPrefix},
    {"LuaJIT", "lj_vm_asm_begin", Walker::kSymbol},    // finds its instructions by their distance from here
    {"GraalVM", "__svm_code_section", Walker::kSymbol},
    {"GraalVM", ".svm_heap", Walker::kSection},
    {".NET", "__managedcode", Walker::kSection},
    {"Mono", "mono_aot_module_", Walker::kSymbolPrefix},
    {"PyPy's asmgcc", "__gcmapstart", Walker::kSymbol},
    {"SBCL", "lisp_code_start", Walker::kSymbol},
    {"a runtime with LLVM's stack maps", ".llvm_stackmaps", Walker::kSection},
    {"a runtime with LLVM's fault maps", ".llvm_faultmaps", Walker::kSection},
    {"a reader of -fexperimental-sanitize-metadata's lists", kListOfSanitizers, Walker::kSectionPrefix},
    // They own the address space, or attribute time by the addresses of callers, as what szc itself refuses.
    {"gprof", "__monstartup", Walker::kSymbol},
    {"AddressSanitizer", "__asan_init", Walker::kSymbol},
    {"ThreadSanitizer", "__tsan_init", Walker::kSymbol},
    {"MemorySanitizer", "__msan_init", Walker::kSymbol},
};

bool is_section_of(std::string_view name, const Walker& walker) {
  if (walker.kind == Walker::kSectionPrefix) return name.starts_with(walker.mark);
  return walker.kind == Walker::kSection && name == walker.mark;
}

bool is_marked_by(std::string_view name, const Walker& walker) {
  if (walker.kind == Walker::kSymbolPrefix) return name.starts_with(walker.mark);
  return walker.kind == Walker::kSymbol && name.substr(0, name.find('@')) == walker.mark;
}

std::string_view walker_among(const std::vector<Symbol>& symbols) {
  for (const Symbol& symbol : symbols)
    for (const Walker& walker : kWalkers)
      if (is_marked_by(symbol.name, walker)) return walker.name;
  return {};
}

}  // namespace

std::string_view code_walker_in(const ElfImage& image) {
  for (const Section& section : image.sections())
    for (const Walker& walker : kWalkers)
      if (is_section_of(section.name, walker)) return walker.name;
  const std::string_view found = walker_among(image.symbols());
  return found.empty() ? walker_among(image.dynamic_symbols()) : found;
}

}  // namespace stab::postlink
