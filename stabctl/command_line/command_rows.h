// The rows of the command table, in the order in which --help lists them.
#pragma once

#include <vector>

#include "stabctl/command_line/command_table.h"

namespace stab::ctl {
namespace rows {

std::vector<CommandRow> experiment_rows();  // experiment_rows.cc: plans, and experiments that run here
std::vector<CommandRow> record_rows();      // record_rows.cc: what is recorded, and the database
std::vector<CommandRow> answer_rows();      // answer_rows.cc: answers about two sides, and about numbers of other tools
std::vector<CommandRow> lab_rows();         // lab_rows.cc: the machine, and the daemon

}  // namespace rows
}  // namespace stab::ctl
