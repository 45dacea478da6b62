// szc, szc++, szflang: clang or flang with the layout of its output made movable.
//
// A command that surely doesn't link becomes clang at once. For any other, clang is asked what it would link;
// then clang runs with our options, and the post-link step works on the file it wrote. A command for another target than
// x86-64 Linux becomes clang as it is.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/standard_output.h"
#include "instrumenter/driver/command_line.h"
#include "instrumenter/driver/executable_stack.h"
#include "instrumenter/driver/layout_choice.h"
#include "instrumenter/driver/link_job.h"
#include "instrumenter/driver/child_process.h"
#include "instrumenter/driver/steps.h"
#include "instrumenter/driver/strictness.h"
#include "instrumenter/driver/target.h"
#include "instrumenter/driver/toolchain.h"

namespace {

using namespace stab;
using namespace stab::driver;

// A file at one moment; of kind 0 when there is none.
struct stat state_of(const std::string& path) {
  struct stat state{};
  if (stat(path.c_str(), &state) != 0) state = {};
  return state;
}

bool same_time(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

// configure scripts link to /dev/null, and ask a linker for its --version: that writes nothing, and what an earlier
// link left under the name is not ours to touch.
bool is_written(const struct stat& before, const struct stat& after) {
  if (!S_ISREG(after.st_mode)) return false;
  return before.st_dev != after.st_dev || before.st_ino != after.st_ino || before.st_size != after.st_size ||
         !same_time(before.st_mtim, after.st_mtim) || !same_time(before.st_ctim, after.st_ctim);
}

// Whether the linked file has a section of this name, told by the name table.
bool has_section(const std::string& path, std::string_view name) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.find('\0' + std::string(name) + '\0') != std::string::npos;
}

// Objects were compiled before anyone could know.
void warn_of_pads(const LinkJob& job) {
  if (is_bare(job) && has_section(job.output, "stab_pads"))
    fprintf(stderr, "szc: warning: '%s' is linked without libc and its objects have stack pads, which read thread-local "
            "storage; compile them with -ffreestanding\n", job.output.c_str());
}

void warn_of_left_out(const LinkJob& job) {
  const LeftOut out = left_out(job);
  if (!out.undo.empty())
    fprintf(stderr, "szc: warning: '%s' is linked without %s, because %s; use -fuse-ld=lld\n", job.output.c_str(),
            out.options.c_str(), out.why.c_str());
}

// A bare program is meant to be without libc.
void warn_of_unprocessed(const LinkJob& job) {
  const std::string why = why_not_processed(job);
  if (!why.empty() && !is_bare(job))
    fprintf(stderr, "szc: warning: '%s' %s: nothing in it is randomized\n", job.output.c_str(), why.c_str());
}

using Layout = std::optional<LayoutChoice>;

std::string file_of(const Layout& layout) { return layout ? layout->path : std::string(); }

// Nobody looks at where the functions of such a file are.
void warn_of_layout(const LinkJob& job, const LayoutChoice& layout) {
  if (!job.relocatable && job.output.substr(job.output.rfind('/') + 1) == layout.file.program)
    fprintf(stderr,
            "szc: warning: '%s' is linked without libc, so szc can't check whether its functions are where '%s' places them\n",
            job.output.c_str(), layout.path.c_str());
}

// The command that links, with what an order of functions adds to it; `ordering` holds the order until it has run.
Result<Arguments> ordered(Arguments command, const Layout& layout, const LinkJob& job, UniqueFd& ordering) {
  if (!layout || layout->file.order.empty()) return command;
  if (!is_lld(job.kind))
    return bad_input("'" + layout->path + "' orders functions, which lld alone does here; link '" + job.output +
                     "' with -fuse-ld=lld, or take the lines of 'order' out");
  STAB_TRY(ordering, ordering_file(layout->file));
  for (std::string& option : ordering_options(path_of(ordering))) command.insert(command.begin() + 1, std::move(option));
  return command;
}

Result<int> post_link(const CommandLine& line, const LinkJob& job, const Arguments& command) {
  if (line.verbose) fprintf(stderr, "%s\n", shown_as_typed(command).c_str());
  STAB_TRY(const int exit_code, run(command));
  if (exit_code != 0) unlink(job.output.c_str());
  return exit_code;
}

Result<int> print_parts() {
  STAB_TRY(const std::vector<std::string> parts, parts_of_builds());
  for (const std::string& part : parts) printf("%s\n", part.c_str());
  STAB_CHECK_OK(finish_standard_output());
  return 0;
}

// What the compiler would run for a command, on its standard error.
Result<Captured> ask(Arguments command) {
  command.insert(command.begin() + 1, "-###");
  return run_captured(command, STDERR_FILENO);
}

// By whom it is called the compiler says; who that is, a linker that its name doesn't tell has to be asked.
Result<LinkerKind> kind_of(const LinkJob& job, const Llvm& llvm) {
  if (job.kind != LinkerKind::kUnknown) return job.kind;
  STAB_TRY(const Captured answer, run_captured({job.linker, "--version"}, STDOUT_FILENO));
  return kind_by_version(answer.text, llvm);
}

// Fails what can't come to be strict however the link goes; `strict` is for the output of `job`.
Status check_strict(const LinkJob& job, const postlink::Factors& strict) {
  const std::string why = why_not_processed(job);
  if (why.empty() || !strict.any()) return {};
  return bad_input("'" + job.output + "' " + why + "; --stab-strict or STAB_LINK_STRICT asks for " + text_of(strict));
}

// ThinLTO's backends apart from the link optimize on their own, and clang loads no pass there.
Status check_thin_backend(const CommandLine& line) {
  if (!line.is_thin_backend) return {};
  constexpr char kText[] =
      "clang loads no pass where it obeys -fthinlto-index=, so these functions have no pads and stay; let the link optimize "
      "('szc -flto=thin', with --thinlto-cache-dir= to save time), or move them by linking with --stab-move=all";
  if (line.strict && (line.strict->code || line.strict->stack)) return bad_input(kText);
  fprintf(stderr, "szc: warning: %s\n", kText);
  return {};
}

// As clang does it. -m32 is refused where the output would be a program or a library on top of libc: who says that for the
// machine at hand expects a program that is randomized, as with any other option.
Result<int> for_other_target(const Toolchain& tools, const CommandLine& line, const Captured& answer) {
  const auto job = find_link_job(answer.text, tools.llvm);
  if (job && needs_post_link(*job) && !line.narrow.empty()) return no_narrow_programs(line.narrow);
  if (job && !job->relocatable) {
    const std::string target = target_of(answer.text);
    STAB_TRY(const postlink::Factors strict, strictness_of(line, job->output));
    if (strict.any())
      return bad_input("'" + job->output + "' is for '" + target + "', and Stab is for x86-64 Linux with glibc; --stab-strict or "
                       "STAB_LINK_STRICT asks for " + text_of(strict));
    if (is_only_of_another_libc(target))
      fprintf(stderr, "szc: warning: '%s' is for '%s', and Stab's runtime needs glibc: nothing in it is randomized\n",
              job->output.c_str(), target.c_str());
  }
  return become(other_target_command(tools, line));
}

CommandLine without_link(CommandLine line) {
  line.only_compiles = true;
  return line;
}

// The link that the compiler speaks of, with what is ours, and the post-link step.
Result<int> link(const Toolchain& tools, const CommandLine& line, const Layout& layout, LinkJob job) {
  STAB_TRY(job.kind, kind_of(job, tools.llvm));
  STAB_TRY(const postlink::Factors strict, strictness_of(line, job.output));
  STAB_CHECK_OK(check_strict(job, strict));
  if (is_lld(job.kind) && needs_post_link(job)) job.executable_stack = ask_for_executable_stack(job.files);
  STAB_TRY(const LinkOrder order, LinkOrder::from_environment());
  warn_of_left_out(job);
  UniqueFd ordering;
  STAB_TRY(const Arguments command, ordered(link_command(tools, line, job, order), layout, job, ordering));
  const struct stat before = state_of(job.output);
  STAB_TRY(const int exit_code, run(command));
  const bool written = is_written(before, state_of(job.output));
  if (exit_code == 0 && written) {
    warn_of_pads(job);
    warn_of_unprocessed(job);
    if (layout && !needs_post_link(job)) warn_of_layout(job, *layout);
  }
  if (exit_code != 0 || !needs_post_link(job)) return exit_code;
  const Arguments last = post_link_command(tools, line, job, file_of(layout), strict);
  if (line.prints_steps) {
    fprintf(stderr, "%s\n", shown_as_typed(last).c_str());
    return 0;
  }
  if (!written) return 0;
  return post_link(line, job, last);
}

Result<int> drive(std::string_view name, std::span<char* const> raw) {
  STAB_TRY(CommandLine line, CommandLine::parse(raw));
  if (line.prints_parts) return print_parts();
  STAB_TRY(const Toolchain tools, Toolchain::find(name, line.llvm));
  if (line.is_inner) return become(inner_command(tools, line));
  if (line.pads_all && tools.language == Language::kFortran)
    return bad_input("'--stab-pads=all' is for C and C++: flang can't mark functions");
  if (!line.visited.empty() && tools.language == Language::kFortran)
    return bad_input("'--stab-visit=" + line.visited +
                     "' is for C and C++: flang can't mark functions; call stab_visit() from C");
  if (!line.info_file.empty()) return become({tools.post_linker, "--info", line.info_file});
  const bool may_be_other_target = line.may_be_other_target || !tools.target.empty();
  if (line.refused && !may_be_other_target) return *line.refused;
  Captured answer;
  if (!line.only_compiles || may_be_other_target) {
    STAB_TRY(answer, ask(compile_command(tools, line)));
    line.keeps_linker = is_linker_configured(answer.text);
    if (line.keeps_linker) {
      STAB_TRY(answer, ask(compile_command(tools, line)));
    }
    const std::string target = target_of(answer.text);
    if (!target.empty() && !is_our_target(target)) return for_other_target(tools, line, answer);
    if (line.refused) return *line.refused;
  }
  STAB_CHECK_OK(check_thin_backend(line));
  STAB_TRY(const Layout layout, choose_layout(line, advice::cpu_model()));
  if (layout) STAB_CHECK_OK(tell_places(layout->file));
  const Arguments command = compile_command(tools, line);
  if (line.only_compiles) return become(command);

  const auto job = answer.exit_code == 0 ? find_link_job(answer.text, tools.llvm) : std::nullopt;
  if (job) return link(tools, line, layout, *job);
  // Nothing to link, or clang's own complaint. flang would warn of an option for a linker.
  return become(tools.language == Language::kFortran ? compile_command(tools, without_link(line)) : command);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "szc";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const Result<int> exit_code = drive(name, std::span<char* const>(argv + 1, static_cast<size_t>(argc - 1)));
  if (exit_code) return *exit_code;
  fprintf(stderr, "%.*s: error: %s\n", static_cast<int>(name.size()), name.data(),
          exit_code.error().text().c_str());
  return 1;
}
