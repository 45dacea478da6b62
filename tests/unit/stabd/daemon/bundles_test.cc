// Who begins to read a bundle gets the experiment as it is: what was made for an earlier reader is made again. Pieces of two
// copies never mix.
#include "stabd/daemon/answers/bundles.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "tests/unit/stabd/daemon/opened_engine.h"
#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

using std::chrono::seconds;

constexpr uid_t kReader = 1000;

class BundlesTest : public testing::Test {
 protected:
  BundlesTest() {
    engine_ = opened_engine(directory_.path(), clock_);
    bundles_.emplace(directory_.path() + "/lab.db", clock_);
    thread_.emplace(*engine_, [] {}, [](const EndedRun&, int) {});
    add_paused();
    thread_->start();
  }

  // Its bundle is several pieces long.
  void add_paused() {
    store::Store& store = engine_->store();
    store::NewExperiment row;
    row.name = "long";
    row.plan_text = std::string(3 * kBundlePieceBytes, '#');
    row.plan_path = "long.toml";
    row.plan_directory = "/";
    const auto id = store.add_experiment(row);
    EXPECT_TRUE(id.ok()) << id.error().text();
    experiment_ = *id;
    const auto paused = store.advance(experiment_, store::ExperimentEvent::kPause, "", 1);
    EXPECT_TRUE(paused.ok()) << paused.error().text();
  }
  store::ExperimentSummary row() {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    const auto row = engine_->store().summary(experiment_);
    EXPECT_TRUE(row.ok()) << row.error().text();
    return *row;
  }
  void cancel() {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    const Status cancelled = engine_->store().cancel(experiment_, "", 2);
    EXPECT_TRUE(cancelled.ok()) << cancelled.error().text();
  }

  Result<BundlePiece> ask(int64_t offset, int64_t copy = 0) { return bundles_->piece(*thread_, row(), kReader, offset, copy); }
  // Whether it is made for who asks now; back when it is. The engine's thread does one work after the other.
  bool is_made() {
    const Result<BundlePiece> answer = ask(0);
    if (answer || answer.error().code != ErrorCode::kBusy) return false;
    std::promise<void> done;
    thread_->between_trials([&](store::Store&) { done.set_value(); });
    done.get_future().wait();
    return true;
  }
  // Its first piece. pre: it is made
  BundlePiece first() {
    const Result<BundlePiece> piece = ask(0);
    EXPECT_TRUE(piece.ok()) << piece.error().text();
    return piece ? *piece : BundlePiece();
  }
  // What the bundle that begins with `piece` says that the experiment is.
  store::ExperimentState read_on(BundlePiece piece) {
    std::string all = piece.bytes;
    while (!piece.end) {
      const auto next = ask(static_cast<int64_t>(all.size()), piece.copy);
      EXPECT_TRUE(next.ok()) << next.error().text();
      if (!next) return store::ExperimentState::kSubmitted;
      piece = *next;
      all += piece.bytes;
    }
    EXPECT_EQ(static_cast<int64_t>(all.size()), piece.size);
    auto bundle = store::Store::open(directory_.write("fetched", all), store::Store::Access::kRead);
    EXPECT_TRUE(bundle.ok()) << bundle.error().text();
    return bundle->experiments()->front().state;
  }

  TemporaryDirectory directory_;
  FakeClock clock_;
  std::unique_ptr<engine::Engine> engine_;
  std::optional<Bundles> bundles_;
  store::Id experiment_ = 0;
  std::optional<EngineThread> thread_;  // last: it uses the others until it is joined
};

TEST_F(BundlesTest, IsReadInPiecesAndGoesWithTheLast) {
  EXPECT_TRUE(is_made());
  const BundlePiece piece = first();
  EXPECT_FALSE(piece.end);
  EXPECT_EQ(read_on(piece), store::ExperimentState::kPaused);
  EXPECT_TRUE(is_made()) << "it is kept though it was read";
}

TEST_F(BundlesTest, WhoBeginsWaitsForWhoReads) {
  EXPECT_TRUE(is_made());
  const BundlePiece piece = first();
  const auto second = ask(0);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_EQ(second.error().message, "another client of yours is reading the experiment's bundle");
  EXPECT_EQ(read_on(piece), store::ExperimentState::kPaused);
}

TEST_F(BundlesTest, OneThatWasLeftIsMadeAgain) {
  EXPECT_TRUE(is_made());
  const BundlePiece left = first();
  clock_.advance(seconds(10));
  EXPECT_TRUE(is_made()) << "who begins gets what another reader has left";
  const BundlePiece piece = first();
  EXPECT_NE(piece.copy, left.copy);
  EXPECT_EQ(read_on(piece), store::ExperimentState::kPaused);
}

TEST_F(BundlesTest, PiecesOfTwoCopiesDontMix) {
  EXPECT_TRUE(is_made());
  const BundlePiece left = first();
  clock_.advance(seconds(10));
  EXPECT_TRUE(is_made());
  const BundlePiece piece = first();
  const auto mixed = ask(static_cast<int64_t>(left.bytes.size()), left.copy);
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().code, ErrorCode::kBadInput);
  EXPECT_EQ(mixed.error().message, "the bundle was made again meanwhile; begin with offset 0");
  EXPECT_EQ(read_on(piece), store::ExperimentState::kPaused) << "the other reader's is spoiled";
}

TEST_F(BundlesTest, OneThatNobodyCameForIsMadeAgainAfterAMinute) {
  EXPECT_TRUE(is_made());
  clock_.advance(seconds(61));
  EXPECT_TRUE(is_made()) << "it is served though it is old";
  clock_.advance(seconds(59));
  EXPECT_EQ(read_on(first()), store::ExperimentState::kPaused);
}

TEST_F(BundlesTest, OneOfAnotherStateIsMadeAgain) {
  EXPECT_TRUE(is_made());
  cancel();
  EXPECT_TRUE(is_made()) << "it is served though the experiment has changed";
  EXPECT_EQ(read_on(first()), store::ExperimentState::kCancelled);
}

}  // namespace
}  // namespace stab::daemon
