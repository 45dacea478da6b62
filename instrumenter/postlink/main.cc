// stab-postlink: adds the metadata of movable code to a linked program.
#include <limits.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/standard_output.h"
#include "instrumenter/postlink/post_link.h"
#include "instrumenter/postlink/stab_info.h"

namespace {

constexpr char kUsage[] =
    "usage: stab-postlink PROGRAM [-o OUTPUT] [--strip] [--only-listed | --move-all]\n"
    "                     [--keep-relocations] [--layout FILE] [--strict FACTOR[,FACTOR...]]\n"
    "           add stab_code to an ELF file linked with --emit-relocs; --strip drops symbols;\n"
    "           --only-listed moves nothing without a list of what our pass compiled; --move-all moves\n"
    "           other compilers' functions, too, where their code and unwind tables show that it can be done\n"
    "           --keep-relocations leaves those of --emit-relocs in the file\n"
    "           --layout fails where functions are not where FILE places them; --strict where one of the factors\n"
    "           code, stack, heap has nothing to randomize\n"
    "       stab-postlink --info PROGRAM\n"
    "           print what a processed file carries\n";

struct Command {
  std::string input;
  std::string output;
  bool info = false;
  stab::postlink::Options options;
};

// False: wrong usage.
stab::Result<bool> parse(int argc, char** argv, Command& command) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "-o" && i + 1 < argc) {
      command.output = argv[++i];
    } else if (argument == "--info") {
      command.info = true;
    } else if (argument == "--strip") {
      command.options.strip = true;
    } else if (argument == "--keep-relocations") {
      command.options.keep_relocations = true;
    } else if (argument == "--only-listed") {
      command.options.only_listed = true;
    } else if (argument == "--move-all") {
      command.options.move_all = true;
    } else if (argument == "--layout" && i + 1 < argc) {
      command.options.layout_file = argv[++i];
    } else if (argument == "--strict" && i + 1 < argc) {
      STAB_TRY(command.options.strict, stab::postlink::parse_factors(argv[i + 1], argument + " " + argv[i + 1]));
      ++i;
    } else if (!argument.starts_with('-') && command.input.empty()) {
      command.input = argument;
    } else {
      return false;
    }
  }
  if (command.output.empty()) command.output = command.input;
  return !command.input.empty() && !(command.options.only_listed && command.options.move_all);
}

// The runtime lies beside us, in the build tree as when installed.
std::vector<std::string> runtime_archives() {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return {};
  const std::string path(self, static_cast<size_t>(length));
  const std::string bin = path.substr(0, path.rfind('/'));
  const std::string library = bin.substr(0, bin.rfind('/')) + "/lib/stab/libstabrt";
  return {library + ".a", library + "-static.a"};
}

stab::Status run(const Command& command) {
  if (!command.info) {
    std::vector<std::string> warnings;
    stab::postlink::Options options = command.options;
    options.warnings = &warnings;
    STAB_CHECK_OK(stab::postlink::post_link(command.input, command.output, options));
    for (const std::string& warning : warnings) fprintf(stderr, "stab-postlink: warning: %s\n", warning.c_str());
    return {};
  }
  STAB_TRY(const auto runtime_names, stab::postlink::functions_of_archives(command.options.runtime_archives));
  STAB_TRY(const std::string text, stab::postlink::describe(command.input, runtime_names));
  fputs(text.c_str(), stdout);
  return stab::finish_standard_output();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(kUsage, stdout), 0;
  Command command;
  command.options.runtime_archives = runtime_archives();
  const stab::Result<bool> parsed = parse(argc, argv, command);
  if (parsed && !*parsed) return fputs(kUsage, stderr), 2;
  const stab::Status status = parsed ? run(command) : stab::Status(parsed.error());
  if (status) return 0;
  fprintf(stderr, "stab-postlink: %s\n", status.error().text().c_str());
  return status.error().code == stab::ErrorCode::kBadInput ? 2 : 1;
}
