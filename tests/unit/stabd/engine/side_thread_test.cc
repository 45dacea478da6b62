// The thread beside the engine's: what was begun is done once, there, before wait() or the end.
#include "stabd/engine/machine/side_thread.h"

#include <gtest/gtest.h>

namespace stab::engine {
namespace {

TEST(SideThread, DoesOneThingAfterAnotherOnAThreadOfItsOwn) {
  SideThread side(-1);
  side.wait();  // for nothing
  std::thread::id worker[2];
  int done = 0;
  for (std::thread::id& id : worker) {
    side.begin([&] {
      id = std::this_thread::get_id();
      ++done;
    });
    side.wait();
  }
  EXPECT_EQ(done, 2);
  EXPECT_NE(worker[0], std::this_thread::get_id());
  // A program dies with the thread that started it, so that thread has to last.
  EXPECT_EQ(worker[0], worker[1]);
}

TEST(SideThread, FinishesWhatItBegan) {
  bool done = false;
  {
    SideThread side(-1);
    side.begin([&] { done = true; });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace stab::engine
