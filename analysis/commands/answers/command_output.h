// What a command has to say, and how it writes a report. Nothing here prints: stabctl and the daemon do.
#pragma once

#include <string>

#include "analysis/report/rendering/first_screen.h"
#include "base/error.h"

namespace stab::commands {

// What a command has to say. exit_code: 0 done; 1 shown worse (verdict); 2 the input is wrong; 3 unsure
// (verdict).
struct CommandOutput {
  std::string out;
  std::string err;
  int exit_code = 0;
};

// "error: ..." with exit code 2.
CommandOutput refused(const Error& error);

// How a report is written. For people: one screen of answers, or all of it.
enum class ReportFormat { kFirstScreen, kTerminal, kJson, kMarkdown, kLatex, kCsv, kR };

struct ReportOptions {
  ReportFormat format = ReportFormat::kTerminal;
  int width = 100;
  bool colour = false;
  std::string figures;  // folder that takes SVG figures; empty: none
  report::Whereabouts where = {};  // of kFirstScreen
};

}  // namespace stab::commands
