// Operands and options that several commands take, with the help that they have in all of them.
#pragma once

#include <string>

#include "stabctl/command_line/command_table.h"

namespace stab::ctl {
namespace rows {

using A = Arguments;

Operand plan_file();
Operand experiment(const std::string& otherwise = {});
Operand trial();
Option database();
Option socket();
// For commands that work on a database of one's own unless a daemon is named.
Option daemon(const std::string& what);
Option json();
Option quiet();
Option full();
Option html();
Option color();
Option format_word(const std::string& word);
Option of_experiment(const std::string& help);
// Of compare and time, the margin also of import.
Option at_most_a_minute();
Option for_shell();
Option prepare();
// Of explain and bisect.
Option build_command();
Option input();
Option warmup();
Option exit_status();
Option margin(const std::string& of = {});
Option as_markdown();
Option export_json();
Option save_plan();
Option of_workload();
Option slow_places();

}  // namespace rows
}  // namespace stab::ctl
