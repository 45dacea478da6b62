// stab-postlink: adds the metadata of movable code to a linked program.
#include <cstdio>
#include <cstring>
#include <string>

#include "instrumenter/postlink/post_link.h"
#include "instrumenter/postlink/stab_info.h"

namespace {

constexpr char kUsage[] =
    "usage: stab-postlink PROGRAM [-o OUTPUT] [--strip]\n"
    "           add .stab.code to an ELF file linked with --emit-relocs; --strip drops symbols\n"
    "       stab-postlink --info PROGRAM\n"
    "           print what a processed file carries\n";

struct Options {
  std::string input;
  std::string output;
  bool info = false;
  bool strip = false;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "-o" && i + 1 < argc) {
      options.output = argv[++i];
    } else if (argument == "--info") {
      options.info = true;
    } else if (argument == "--strip") {
      options.strip = true;
    } else if (!argument.starts_with('-') && options.input.empty()) {
      options.input = argument;
    } else {
      return false;
    }
  }
  if (options.output.empty()) options.output = options.input;
  return !options.input.empty();
}

stab::Status run(const Options& options) {
  if (!options.info) return stab::postlink::post_link(options.input, options.output, options.strip);
  STAB_TRY(const std::string text, stab::postlink::describe(options.input));
  fputs(text.c_str(), stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(kUsage, stdout), 0;
  Options options;
  if (!parse(argc, argv, options)) return fputs(kUsage, stderr), 2;
  const stab::Status status = run(options);
  if (status) return 0;
  fprintf(stderr, "stab-postlink: %s\n", status.error().text().c_str());
  return status.error().code == stab::ErrorCode::kBadInput ? 2 : 1;
}
