// A helper ends with whoever started it, also one that could do nothing towards that yet; what it says of the program while that
// runs is no part of its report.
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

// A frame as runtime/helper/epoch_record.h has it, of one point.
constexpr char kSayings[] = R"(#!/usr/bin/python3
import os, struct, sys, time
def frame(name, visits):
    return b'STABPRG1' + struct.pack('<9QII', 1, visits, 0, 0, 0, 0, 0, 0, 0, 1, 0) + name.ljust(112, b'\0') + bytes(7 * 112)
report = int(sys.argv[sys.argv.index('--report') + 1])
said = {SAID}
for part in said:
    os.write(report, part)
)";

Result<Helper> saying(const TemporaryDirectory& directory, const std::string& said) {
  std::string text = kSayings;
  text.replace(text.find("{SAID}"), 6, said);
  return Helper::start(directory.write("helper", text, 0755), {}, std::nullopt);
}

TEST(HelperProcess, TellsWhatTheProgramHasDoneSoFar) {
  const TemporaryDirectory directory;
  Result<Helper> helper = saying(directory, "[frame(b'block', 5), frame(b'bl\\x1bck', 9), frame(b'late', 7)[:100]]");
  ASSERT_TRUE(helper) << helper.error().text();
  std::optional<std::vector<PointVisits>> latest;
  EXPECT_TRUE(comes_true([&] {
    if (auto said = helper->progress()) latest = std::move(said);
    return latest && latest->front().visits == 9;
  }));
  EXPECT_EQ(latest, (std::vector<PointVisits>{{"bl?ck", 9}}));
  EXPECT_EQ(helper->progress(), std::nullopt) << "half a frame is none";
}

TEST(HelperProcess, WhatItHasSaidBeforeIsNoPartOfItsReport) {
  for (const bool looked : {false, true}) {
    const TemporaryDirectory directory;
    Result<Helper> helper = saying(directory, "[frame(b'block', 5), frame(b'block', 9), b'{\"a\": 1}\\n']");
    ASSERT_TRUE(helper) << helper.error().text();
    if (looked) {
      EXPECT_TRUE(comes_true([&] { return helper->progress().has_value(); }));
    }
    const Result<HelperEnd> end = helper->finish(std::chrono::seconds(30));
    ASSERT_TRUE(end) << end.error().text();
    EXPECT_EQ(end->report, "{\"a\": 1}\n") << (looked ? "after a look" : "without one");
    EXPECT_EQ(end->epochs, "");
  }
}

TEST(HelperProcess, WhatIsNoFrameIsNotTakenForOne) {
  const TemporaryDirectory directory;
  Result<Helper> helper = saying(directory, "[b'x' * 65536]");
  ASSERT_TRUE(helper) << helper.error().text();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(helper->progress(), std::nullopt);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(helper->finish(std::chrono::seconds(30)));
}

}  // namespace
}  // namespace stab::host
