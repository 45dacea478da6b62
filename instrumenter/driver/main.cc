// szc, szc++, szflang: clang or flang with the layout of its output made movable.
//
// A command that surely doesn't link becomes clang at once. For any other, clang is asked what it would link;
// then clang runs with our options, and the post-link step works on the file it wrote.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "instrumenter/driver/command_line.h"
#include "instrumenter/driver/link_job.h"
#include "instrumenter/driver/process.h"
#include "instrumenter/driver/steps.h"
#include "instrumenter/driver/toolchain.h"

namespace {

using namespace stab;
using namespace stab::driver;

// configure scripts link to /dev/null.
bool is_regular_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<int> post_link(const Toolchain& tools, const CommandLine& line, const LinkJob& job) {
  const Arguments command = post_link_command(tools, line, job);
  if (line.verbose) fprintf(stderr, "%s\n", quoted(command).c_str());
  STAB_TRY(const int exit_code, run(command));
  if (exit_code != 0) unlink(job.output.c_str());
  return exit_code;
}

Result<int> drive(std::string_view name, std::span<char* const> raw) {
  STAB_TRY(const CommandLine line, CommandLine::parse(raw));
  STAB_TRY(const Toolchain tools, Toolchain::find(name));
  if (!line.info_file.empty()) return become({tools.post_linker, "--info", line.info_file});
  Arguments command = compile_command(tools, line);
  if (line.only_compiles) return become(command);

  Arguments question = command;
  question.insert(question.begin() + 1, "-###");
  STAB_TRY(const Captured answer, run_captured(question));
  const auto job = answer.exit_code == 0 ? find_link_job(answer.error_output) : std::nullopt;
  if (!job) return become(command);  // nothing to link, or clang's own complaint

  STAB_TRY(const LinkOrder order, LinkOrder::from_environment());
  command = link_command(tools, line, *job, order);
  STAB_TRY(const int exit_code, run(command));
  if (exit_code != 0 || !needs_post_link(*job)) return exit_code;
  if (line.prints_steps) {
    fprintf(stderr, "%s\n", quoted(post_link_command(tools, line, *job)).c_str());
    return 0;
  }
  if (!is_regular_file(job->output)) return 0;
  return post_link(tools, line, *job);
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
