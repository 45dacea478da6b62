// CommandLine: the few things about a user's arguments that have to be known before clang sees them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "instrumenter/postlink/factors.h"

namespace stab::driver {

using Arguments = std::vector<std::string>;

struct CommandLine {
  Arguments arguments;  // for clang: as given, but for our own options and what strips says
  std::vector<std::shared_ptr<UniqueFd>> response_files{};  // those of them in memory: open, and inherited by clang
  bool only_compiles = false;  // surely no link: -c, -S, -E and the like
  bool prints_steps = false;   // -###
  bool emits_bitcode = false;  // -emit-llvm: an optimizer comes to what is made
  bool freestanding = false;   // -ffreestanding: nobody may set up thread-local storage, which pads read
  bool pads_all = false;       // --stab-pads=all: short functions get pads, too
  bool external_assembler = false;  // -fno-integrated-as
  bool optimizes_at_link = false;  // -flto and the like
  bool embeds_bitcode = false;     // -fembed-bitcode: clang refuses some options beside it
  std::string visited{};       // --stab-visit: functions whose entries are counted, with commas between them
  bool is_inner = false;       // -cc1 and the like: clang runs itself by it, and it has to be the first word
  bool is_thin_backend = false;  // -fthinlto-index=: one of ThinLTO's backends, apart from the link
  bool keeps_linker = false;   // a configuration file of clang's chooses it; set by who has asked clang
  bool verbose = false;        // -v
  bool strips = false;         // -s in one of its forms: taken out of arguments, done by post-link where that runs
  std::string info_file{};     // --stab-info FILE
  bool prints_parts = false;   // --stab-parts
  std::string layout_file{};   // --stab-layout: where functions are to start; empty: not said
  std::string llvm{};          // --stab-llvm: a version or the folder of one; empty: not said
  bool move_all = false;       // --stab-move=all: what other compilers made moves, too
  std::optional<postlink::Factors> strict{};  // --stab-strict

  std::optional<Error> refused{};  // an option that can't work together with moving code, where code is for our target
  bool may_be_other_target = false;  // an option names a target: clang has to be asked which it is
  std::string narrow{};              // the last of -m32 and -mx32

  // Fails on wrong options of ours, and on response files that nest too deep.
  static Result<CommandLine> parse(std::span<char* const> arguments);
};

// The refusal of a link for -m32 or -mx32.
Error no_narrow_programs(const std::string& option);

}  // namespace stab::driver
