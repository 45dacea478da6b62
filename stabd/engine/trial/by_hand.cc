#include "stabd/engine/trial/by_hand.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "runtime/modes.h"

namespace stab::engine {
namespace {

// What a terminal and its tools want to know; nothing else of the caller's environment reaches the program.
constexpr const char* kOfTheTerminal[] = {"TERM", "COLUMNS", "LINES"};

// Plans give epochs in whole microseconds, as the runtime reads them.
std::vector<std::string> readable_settings(const TrialRequest& request) {
  const plan::Layout& layout = request.layout;
  std::vector<std::string> out{std::string("STAB_CODE=") + abi::kCodeWords[static_cast<size_t>(layout.code)],
                               std::string("STAB_STACK=") + abi::kStackWords[static_cast<size_t>(layout.stack)],
                               "STAB_STACK_RANGE=" + std::to_string(layout.stack_range_bytes),
                               std::string("STAB_HEAP=") + abi::kHeapWords[static_cast<size_t>(layout.heap)],
                               "STAB_SEED=" + std::to_string(request.seed)};
  out.push_back("STAB_EPOCH=" + (layout.epoch_ns > 0 ? std::to_string(layout.epoch_ns / 1000) + "us"
                                                     : std::to_string(layout.epoch_visits) + "visits"));
  // A launched program's helper is told; this one starts its own.
  if (request.helper_switches & helper::kLeadLoops) out.push_back("STAB_LONG_LOOPS=1");
  return out;
}

bool is_debugger(const std::string& tool) {
  const std::string name = std::filesystem::path(tool).filename();
  return name.starts_with("gdb") || name.starts_with("lldb");
}

// In the child. Does not return.
[[noreturn]] void become(const HandRun& run) {
  const auto failed = [](const char* what) {
    std::fprintf(stderr, "stabctl: %s: %s\n", what, std::strerror(errno));
    ::_exit(127);
  };
  if (!run.input.empty()) {
    const int in = ::open(run.input.c_str(), O_RDONLY | O_CLOEXEC);
    if (in < 0 || ::dup2(in, STDIN_FILENO) < 0) failed(run.input.c_str());
  }
  if (::chdir(run.directory.c_str()) != 0) failed(run.directory.c_str());
  for (const host::Limit& limit : run.limits) {
    const rlimit wanted{limit.soft, limit.hard};
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &wanted) != 0) failed("setrlimit");
  }
  if (run.cpu >= 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(run.cpu), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) failed("sched_setaffinity");
  }
  if (!run.aslr && ::personality(ADDR_NO_RANDOMIZE) < 0) failed("personality");
  std::vector<char*> argv, env;
  for (const std::string& word : run.argv) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& variable : run.env) env.push_back(const_cast<char*>(variable.c_str()));
  argv.push_back(nullptr), env.push_back(nullptr);
  ::execvpe(argv[0], argv.data(), env.data());
  failed(argv[0]);
  std::abort();
}

}  // namespace

Result<HandRun> by_hand(const TrialRequest& request, const std::vector<std::string>& tool, const std::string& directory) {
  if (request.simulation.on())
    return bad_input("the trial was simulated: its program already runs under valgrind, and no tool can stand between");
  if (tool.empty()) return bad_input("--under names no tool: expected words such as 'perf stat -d' or 'gdb --args'");
  HandRun run;
  run.argv = tool;
  run.argv.push_back(request.launch.exec_path);
  run.argv.insert(run.argv.end(), request.launch.argv.begin() + 1, request.launch.argv.end());
  run.env = request.launch.env;
  for (std::string& setting : readable_settings(request)) run.env.push_back(std::move(setting));
  for (const char* name : kOfTheTerminal)
    if (const char* value = std::getenv(name)) run.env.push_back(std::string(name) + "=" + value);
  run.directory = request.launch.directory;
  run.aslr = request.launch.aslr;
  run.limits = request.launch.limits;
  // A person's program whose code and stack stay has no helper that it could tell.
  const bool has_helper = request.layout.code != abi::CodeMode::kOff || request.layout.stack != abi::StackMode::kOff;
  if (!request.script.empty() && has_helper) {
    const std::string path = directory + "/.stab-layout-script";
    std::ofstream file(path, std::ios::binary);
    file << script_with_rows(request);
    if (!file.flush()) return Error{ErrorCode::kSystem, "can't write '" + path + "'", {}};
    run.env.push_back("STAB_LAYOUT=" + path);
  }
  std::string input = request.stdin_paths.empty() ? "/dev/null" : "";
  for (const std::string& path : request.stdin_paths)
    if (input.empty() && ::access(path.c_str(), R_OK) == 0) input = path;
  if (input.empty()) return Error{ErrorCode::kNotFound, "can't read '" + request.stdin_paths[0] + "'", {}};
  if (is_debugger(tool[0])) run.input_note = "run < " + input;
  else run.input = input;
  return run;
}

Result<int> run_by_hand(const HandRun& run) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) return system_error("fork", errno);
  if (child == 0) become(run);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return system_error("waitpid", errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace stab::engine
