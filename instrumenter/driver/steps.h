// The commands a driver runs for a user's command.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "instrumenter/driver/command_line.h"
#include "instrumenter/driver/link_job.h"
#include "instrumenter/driver/toolchain.h"

namespace stab::driver {

// Random placement by the linker, for baselines that are fresh links of the same program.
struct LinkOrder {
  std::optional<uint32_t> code_seed;  // STAB_LINK_SEED: shuffles functions
  bool data = false;                  // STAB_LINK_DATA=1: shuffles data objects, too, with the same seed

  static Result<LinkOrder> from_environment();
};

// The user's command with our compiler options in front.
Arguments compile_command(const Toolchain& tools, const CommandLine& line);

// The command by which a compiler runs itself, or a user a part of it: nothing of ours.
Arguments inner_command(const Toolchain& tools, const CommandLine& line);

// The user's command for another target: nothing of ours.
Arguments other_target_command(const Toolchain& tools, const CommandLine& line);

// The command of compile_command() with our linker options, too. pre: the command links what `job` says.
Arguments link_command(const Toolchain& tools, const CommandLine& line, const LinkJob& job,
                       const LinkOrder& order);
// What lld is told to order functions by the lines of a file.
Arguments ordering_options(const std::string& file);

// True when the linked file gets metadata: an executable or a shared library on top of libc.
bool needs_post_link(const LinkJob& job);

// A program whose start code is its own: thread-local storage, which pads read, may not be set up.
bool is_bare(const LinkJob& job);

// What `job` asks of a linker that can't do it with what we ask of it, so that it is left out. Empty: nothing.
struct LeftOut {
  std::string options;  // for the user
  std::string why;
  std::string undo;     // what takes it back, for the command
};
LeftOut left_out(const LinkJob& job);

// `layout`: path of the layout file that the output is held to; empty: none. `strict`: for what it fails without.
Arguments post_link_command(const Toolchain& tools, const CommandLine& line, const LinkJob& job, const std::string& layout,
                            const postlink::Factors& strict);

}  // namespace stab::driver
