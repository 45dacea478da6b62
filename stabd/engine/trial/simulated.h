// A simulated trial: the program is executed by cachegrind, and what that counts is the trial's responses.
//
// Only the program is simulated: its helper runs beside it on the machine as ever, because valgrind lets no program start one.
// The program is placed by valgrind alone, whatever the machine's ASLR does, so a run of one thread is a function of its seed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/simulation.h"
#include "stabd/engine/build/builds.h"
#include "stabd/engine/separation/worker.h"
#include "stabd/host/launch.h"
#include "stabd/host/roots.h"
#include "store/records.h"

namespace stab::engine {

// The kind of an experiment's event that says what its trials were simulated with.
inline constexpr char kSimulationEvent[] = "simulation";

// The data and instruction caches of the first level and the last level of this machine's first CPU, as sysfs has them. Where
// their sets are no power of two, which cachegrind can't simulate, the largest smaller cache of such sets. kUnavailable: not
// told.
Result<plan::Simulation> with_caches_of_machine(plan::Simulation simulation, const host::Roots& roots);

// Whether valgrind is where trials look for it, for who has no worker to ask. kUnavailable: it isn't, and how to get it.
Status must_have_valgrind();

// Where valgrind is; kUnavailable says how to get it.
Result<std::string> find_valgrind(const BuildPlace& place);

// A path to the program that is as long wherever builds lie: paths are on the program's stack, and move what lies below. A link
// beside the trial's directory, of the name that the plan calls the program by.
Result<std::string> path_of_constant_length(const std::string& trial_directory, size_t number, const std::string& name,
                                            const std::string& program);

// Has `launch` executed by cachegrind, as `path`, with the counts in a file in `directory`. pre: all caches are declared.
void put_under_cachegrind(const plan::Simulation& simulation, const std::string& valgrind, const std::string& directory,
                          const std::string& path, host::LaunchRequest& launch);

// What a trial whose program was `pid` has left there, as responses. A text says why there are none; an Error only where the
// worker or the engine ended.
Result<std::string> add_simulated(const plan::Simulation& simulation, const std::string& directory, pid_t pid, Worker* worker,
                                  std::vector<store::ResponseRow>& responses);

// What is to be known before the first trial.
std::string limits_of(const plan::Simulation& simulation);

// Why a program that such a signal ended may have been ended by its simulator; empty: no known reason.
std::string why_ended_by(int signal);

}  // namespace stab::engine
