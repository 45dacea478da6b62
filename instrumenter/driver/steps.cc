// Composing the commands. Ours go in front of the user's, so that the user's choices win (-fuse-ld=,
// -falign-functions=) and hardly anything of ours lands behind a `--`; in brackets that keep clang from calling them
// unused when a command has nothing to compile or link.
#include "instrumenter/driver/steps.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "instrumenter/driver/cache_key.h"
#include "instrumenter/pass/places_variable.h"

namespace stab::driver {
namespace {

constexpr char kQuietBegin[] = "--start-no-unused-arguments";
constexpr char kQuietEnd[] = "--end-no-unused-arguments";

void append(Arguments& to, Arguments from) { to.insert(to.end(), from.begin(), from.end()); }

// Which of the callers among a command's functions get a pad.
enum class Pads { kNone, kLong, kAll };

Pads pads_of(const CommandLine& line) {
  if (line.freestanding) return Pads::kNone;
  return line.pads_all ? Pads::kAll : Pads::kLong;
}

Arguments compile_options(const Toolchain& tools, Pads pads, const CommandLine& line) {
  Arguments options;
  // Pads are for code that no optimizer comes to any more: what compiles the bitcode inserts them. Until then it carries what it
  // needs to know, the attributes below. A module of clang's that goes to a link-time optimizer says so to the pass, and one of
  // flang's doesn't.
  const bool goes_to_link = tools.language == Language::kFortran && line.optimizes_at_link;
  if (!line.emits_bitcode && !goes_to_link) options.push_back("-fpass-plugin=" + tools.pass_plugin);
  // flang knows neither of the others: its functions are aligned by 16 anyway, and share one section, so that
  // link order doesn't shuffle them.
  if (tools.language == Language::kFortran) return options;
  // Entries must not cross an aligned 8-byte word, to be patched by one store.
  append(options, {"-falign-functions=16", "-idirafter", tools.include});
  // Without it functions move as well, but link order doesn't shuffle them.
  if (!line.embeds_bitcode) options.push_back("-ffunction-sections");
  if (pads == Pads::kNone) append(options, {"-Xclang", "-default-function-attr", "-Xclang", "stab-no-pad"});
  if (pads == Pads::kAll) append(options, {"-Xclang", "-default-function-attr", "-Xclang", "stab-pad-short"});
  if (!line.visited.empty()) append(options, {"-Xclang", "-default-function-attr", "-Xclang", "stab-visit=" + line.visited});
  if (line.external_assembler) append(options, {"-Xclang", "-default-function-attr", "-Xclang", "stab-gnu-assembler"});
  return options;
}

// As clang does, a driver takes the target out of its name: x86_64-linux-gnu-g++.
Arguments first_words(const Toolchain& tools) {
  if (tools.target.empty()) return {tools.compiler};
  return {tools.compiler, "--target=" + tools.target};
}

// The compiler, told not to complain about those of our options that this command has no use for. flang can't be
// told; it is only given what it needs.
Arguments start_command(const Toolchain& tools, const Arguments& ours) {
  Arguments command = first_words(tools);
  if (tools.language == Language::kFortran) {
    append(command, ours);
    return command;
  }
  command.push_back(kQuietBegin);
  append(command, ours);
  command.push_back(kQuietEnd);
  return command;
}

// What the runtime puts in front of libc and the unwinder.
constexpr const char* kInterposed[] = {"__libc_start_main", "pthread_create", "thrd_create", "pthread_getattr_np",
                                       "_Unwind_Find_FDE",
                                       // runtime/heap, all of c_functions.inc
                                       "malloc", "free", "calloc", "realloc", "reallocarray", "posix_memalign",
                                       "memalign", "aligned_alloc", "valloc", "pvalloc", "malloc_usable_size",
                                       "malloc_trim"};

// And in a dynamic program in front of the loader, and what its libraries ask the runtime for.
constexpr const char* kInterposedInLoader[] = {"_dl_find_object", "dlopen",    "dlmopen",
                                               "stab_stack",      "stab_rt_*", "_coz_get_counter",
                                               // gold knows no patterns: what libraries call
                                               "stab_rt_code_load", "stab_rt_code_unload", "stab_rt_module_load",
                                               "stab_rt_module_begin", "stab_rt_module_end",
                                               "stab_rt_original_address", "stab_rt_original_function",
                                               "stab_rt_original_addresses", "stab_rt_context_stack",
                                               "stab_rt_signal_stack", "stab_rt_signal_stack_set", "stab_rt_clone_stack",
                                               "stab_rt_frame_of_stacks", "stab_rt_before_protect",
                                               "stab_rt_opened", "stab_rt_before_trace",
                                               "stab_rt_before_text_is_read", "stab_rt_limit_changed"};

// A dynamic program exports them, so that its libraries call them, too. In a static one there is no second
// definition to find at run time; the linker renames calls instead.
Arguments runtime_options(const Toolchain& tools, const LinkJob& job) {
  const std::string option = job.is_static ? ",--wrap=" : ",--export-dynamic-symbol=";
  std::string names = "-Wl";
  for (const char* name : kInterposed) names += option + name;
  for (const char* name : kInterposedInLoader)
    if (!job.is_static) names += option + name;
  // By which UBSan's runtime looks the names of a stack trace up (runtime/code/sanitizer_names.cc).
  names += ",--wrap=_ZN11__sanitizer10Symbolizer11SymbolizePCEm";
  // What the heap's operator new calls when it fails, by a weak reference, which takes nothing out of an archive.
  // Which function those of the library would take aligned memory from, where ours stand for them.
  if (job.with_cxx_archive && !job.is_static)
    names += std::string(",--defsym=stab_operators_take=") +
             (job.archive_takes_posix_memalign ? "posix_memalign" : "aligned_alloc");
  if (job.with_cxx_archive) names += ",-u,_ZSt17__throw_bad_allocv,-u,_ZSt15get_new_handlerv";
  const std::string archive = "-Wl,--whole-archive," + tools.static_runtime + ",--no-whole-archive";
  Arguments options{job.is_static ? archive : "-Wl," + tools.runtime, names};
  // Where the runtime's thread-local storage is, by a name that GNU ld wants even where no call is left.
  if (job.libc_by_file) options.push_back("-Wl,--push-state,--as-needed,-l:ld-linux-x86-64.so.2,--pop-state");
  // Ours would not call the wrappers that those of the C++ library call.
  if (!job.wraps_operators) options.push_back("-Wl," + tools.operators);
  return options;
}

// Any object may be bitcode, of a link with -r, too.
Arguments optimizer_options(const Toolchain& tools, const LinkJob& job) {
  if (job.kind != LinkerKind::kOurLld || is_bare(job)) return {};
  const char* places = getenv(kPlacesVariable);
  return {"-Wl,--load-pass-plugin=" + tools.pass_plugin,
          "-Wl,-mllvm," + cache_key_option(tools.pass_plugin, places == nullptr ? "" : places)};
}

Arguments link_options(const Toolchain& tools, const LinkJob& job, bool move_all, const LinkOrder& order) {
  Arguments options = optimizer_options(tools, job);
  if (!needs_post_link(job)) return options;
  options.push_back("-Wl,--emit-relocs");
  if (!job.shared) append(options, runtime_options(tools, job));
  if (job.shared && move_all) options.push_back("-Wl," + tools.library_entry);
  if (job.executable_stack) options.push_back("-Wl,-z,execstack");
  if (order.code_seed) {
    const std::string seed = std::to_string(*order.code_seed);
    options.push_back("-Wl,--shuffle-sections=.text*=" + seed);
    if (order.data)
      for (const char* sections : {".rodata*", ".data*", ".bss*", ".tdata*", ".tbss*"})
        options.push_back(std::string("-Wl,--shuffle-sections=") + sections + "=" + seed);
  }
  return options;
}

}  // namespace

Result<LinkOrder> LinkOrder::from_environment() {
  LinkOrder order;
  if (const char* text = getenv("STAB_LINK_SEED"); text != nullptr && *text != 0) {
    uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text, text + strlen(text), seed);
    if (error != std::errc() || *end != 0)
      return bad_input("STAB_LINK_SEED is '" + std::string(text) + "', expected a decimal number");
    // To lld 0 means a random seed and the largest means reverse order.
    order.code_seed = static_cast<uint32_t>(seed % (UINT32_MAX - 1) + 1);
  }
  if (const char* text = getenv("STAB_LINK_DATA"); text != nullptr && *text != 0) {
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
      return bad_input("STAB_LINK_DATA is '" + std::string(text) + "', expected 0 or 1");
    order.data = *text == '1';
  }
  return order;
}

Arguments compile_command(const Toolchain& tools, const CommandLine& line) {
  Arguments ours = compile_options(tools, pads_of(line), line);
  if (!line.only_compiles) {
    if (!line.keeps_linker) ours.push_back("-fuse-ld=lld");
    if (line.strips) ours.push_back("-s");
  }
  Arguments command = start_command(tools, ours);
  append(command, line.arguments);
  return command;
}

Arguments inner_command(const Toolchain& tools, const CommandLine& line) {
  Arguments command{tools.compiler};
  append(command, line.arguments);
  return command;
}

Arguments other_target_command(const Toolchain& tools, const CommandLine& line) {
  Arguments command = first_words(tools);
  if (line.strips && !line.only_compiles) command.push_back("-s");
  append(command, line.arguments);
  return command;
}

Arguments link_command(const Toolchain& tools, const CommandLine& line, const LinkJob& job,
                       const LinkOrder& order) {
  Arguments ours = compile_options(tools, is_bare(job) ? Pads::kNone : pads_of(line), line);
  if (!line.keeps_linker) ours.push_back("-fuse-ld=lld");
  if (line.strips && !needs_post_link(job)) ours.push_back("-s");
  // lld has this as an error since LLVM 16, so configure scripts that try a library's version script on a small one, as zlib's,
  // would make no shared library. A user's own --no-undefined-version comes later and wins.
  if (job.kind == LinkerKind::kOurLld || job.kind == LinkerKind::kOtherLld) ours.push_back("-Wl,--undefined-version");
  append(ours, link_options(tools, job, line.move_all, order));
  Arguments command = start_command(tools, ours);
  append(command, line.arguments);
  if (const LeftOut out = left_out(job); !out.undo.empty()) command.push_back(out.undo);
  return command;
}

// What the file names and this program lacks is told by post-link, where it matters.
Arguments ordering_options(const std::string& file) {
  return {"-Wl,--symbol-ordering-file=" + file, "-Wl,--no-warn-symbol-ordering"};
}

bool needs_post_link(const LinkJob& job) { return !job.relocatable && job.libc == Libc::kGlibc; }

bool is_bare(const LinkJob& job) { return job.is_static && job.libc == Libc::kNone && !job.relocatable && !job.shared; }

LeftOut left_out(const LinkJob& job) {
  if (!needs_post_link(job)) return {};
  // It keeps sections that are tied to discarded ones (SHF_LINK_ORDER), as ours are, and stops at an assertion.
  if (job.kind == LinkerKind::kGold && (job.collects || job.folds))
    return {"--gc-sections and --icf", "gold can't discard functions that have stack pads", "-Wl,--no-gc-sections,--icf=none"};
  // It stops at an assertion where debug information that it keeps relocations of names a discarded variable.
  if (job.kind == LinkerKind::kMold && job.collects)
    return {"--gc-sections", "mold can't keep the relocations of what it discards", "-Wl,--no-gc-sections"};
  return {};
}

Arguments post_link_command(const Toolchain& tools, const CommandLine& line, const LinkJob& job, const std::string& layout,
                            const postlink::Factors& strict) {
  Arguments command{tools.post_linker, job.output, line.move_all ? "--move-all" : "--only-listed"};
  if (line.strips) command.push_back("--strip");
  if (job.keeps_relocations && !line.strips) command.push_back("--keep-relocations");
  if (!layout.empty()) append(command, {"--layout", layout});
  if (strict.any()) append(command, {"--strict", text_of(strict)});
  return command;
}

}  // namespace stab::driver
