// A helper ends with whoever started it, also one that could do nothing towards that yet.
#include "stabd/host/helper_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

// 'R', 'S', 'T', ... of /proc/PID/stat; 0: gone.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t end = text.rfind(") ");
  return end == std::string::npos ? '\0' : text[end + 2];
}

bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 3000; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(HelperProcess, OneThatIsStoppedInItsFirstMomentEndsWithWhoStartedIt) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("helper", "#!/bin/sh\nkill -STOP $$\nexec sleep 1000\n", 0755);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t broker = ::fork();
  if (broker == 0) {  // as a broker is: the first of a session of its own
    ::setsid();
    ::signal(SIGHUP, SIG_IGN);  // as below nohup
    const Result<Helper> helper = Helper::start(path, {}, std::nullopt);
    const pid_t pid = helper ? helper->pid() : -1;
    if (::write(ends[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t helper = -1;
  ASSERT_EQ(::read(ends[0], &helper, sizeof helper), static_cast<ssize_t>(sizeof helper));
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_GT(helper, 0);
  EXPECT_TRUE(comes_true([&] { return state_of(helper) == 'T'; }));
  ::kill(broker, SIGKILL);
  ::waitpid(broker, nullptr, 0);
  const bool gone = comes_true([&] { return state_of(helper) == '\0' || state_of(helper) == 'Z'; });
  EXPECT_TRUE(gone) << "state " << state_of(helper);
  if (!gone) ::kill(helper, SIGKILL);
}

}  // namespace
}  // namespace stab::host
