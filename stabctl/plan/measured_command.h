// MeasuredCommand: a command as somebody types it for compare or time, checked and made whole: which file is run, with which
// words.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/szc_program.h"

namespace stab::ctl {

// invariant: words is not empty; words[0] is an absolute path
struct MeasuredCommand {
  std::string shown;  // on one line, as it was typed
  std::vector<std::string> words;
  engine::SzcProgram szc;  // what of its layout can be randomized
  bool is_script = false;  // or a command of a shell's: its time is that of other programs
};

// Why the file can't be run, and what to do; fine: it can.
Status check_program(const std::string& path);

// Refuses what a string of a plan can't hold: bytes that are no UTF-8.
Status check_plan_word(const std::string& word);

// `typed` is the path of a program, or a command whose words are split as a shell would; `arguments` come behind it. With
// `shell` it goes to /bin/sh -c. kBadInput says what is wrong with the program's file, and what to do.
Result<MeasuredCommand> measured_command(const std::string& typed, const std::vector<std::string>& arguments, bool shell);

// Says on standard error that programs get nothing on standard input, where a file is redirected to ours and nobody has begun to
// read it.
void note_unread_input();

// Whether a file is executable and begins as programs or scripts do: what `run` finds in a plan's place.
bool is_program_file(const std::string& path);

}  // namespace stab::ctl
