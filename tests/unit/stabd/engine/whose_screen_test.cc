// A plan says which experiment it confirms, and anybody can write one by hand: neither another user's map nor what is held to
// confirm one's own may come from that.
#include <gtest/gtest.h>

#include "plan/advice/layout_file.h"
#include "plan/layout_confirmation.h"
#include "plan/parse.h"
#include "stabd/engine/results/layout_tool.h"
#include "stabd/engine/results/map_of.h"
#include "stabd/engine/results/verification_of.h"
#include "tests/unit/store/store_fixture.h"

namespace stab::engine {
namespace {

constexpr char kScreen[] = R"([experiment]
name = "screen"
seed = 7
replicates = 5
[factors]
code = ["shuffle"]
[layout]
map = true
epoch = "5ms"
[[program]]
name = "p"
run = ["p"]
)";
const plan::ScreenKey kKey{"screen", 77, 0};  // as new_experiment() is submitted
constexpr int64_t kOwner = 1000, kOther = 1001;

class WhoseScreenTest : public store::StoreTest {
 protected:
  static store::Id add(store::Store& store, int64_t user, const std::string& name, const std::string& text) {
    store::NewExperiment row = store::new_experiment(name);
    row.submitter_uid = user;
    row.plan_text = text;
    const auto id = store.add_experiment(row);
    EXPECT_TRUE(id.ok()) << id.error().message;
    return id ? *id : 0;
  }
  // The plan that the engine writes to confirm `key`.
  static std::string confirming(const plan::ScreenKey& key) {
    const plan::Parsed screen = plan::parse_plan(kScreen, "screen.toml");
    EXPECT_TRUE(screen.plan) << toml::render(screen.errors);
    return screen.plan ? plan::confirmation_text(*screen.plan, key, {}) : "";
  }
  // What asking for a map ends with. Nothing was recorded, so no map comes of it.
  Error map_refused(store::Store& store, store::Id id) {
    const auto map = map_of(store, id, LayoutTool{}, Archive(directory_));
    EXPECT_FALSE(map.ok());
    return map ? Error{} : map.error();
  }
};

TEST_F(WhoseScreenTest, AnothersPlanConfirmsNothingOfMine) {
  store::Store store = open();
  const store::Id screen = add(store, kOwner, "screen", kScreen);
  add(store, kOther, "screen-confirm", confirming(kKey));
  add(store, kOther, "old", "[layout.confirmation]\nof = " + std::to_string(screen) + "\n");
  const auto none = confirmation_of(store, screen);
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_FALSE(none->has_value());
  const store::Id own = add(store, kOwner, "screen-confirm", confirming(kKey));
  EXPECT_EQ(*confirmation_of(store, screen), own);
}

TEST_F(WhoseScreenTest, AConfirmationShowsNobodyElsesMap) {
  store::Store store = open();
  const store::Id screen = add(store, kOwner, "screen", kScreen);
  const store::Id own = add(store, kOwner, "own", confirming(kKey));
  const store::Id named = add(store, kOther, "named", confirming(kKey));
  std::string numbered = confirming(kKey);
  const std::string lines = plan::screen_lines(kKey);
  numbered.replace(numbered.find(lines), lines.size(), "[layout.confirmation]\nof = " + std::to_string(screen) + "\n");
  for (const store::Id id : {named, add(store, kOther, "numbered", numbered)}) {
    const Error refused = map_refused(store, id);
    EXPECT_EQ(refused.code, ErrorCode::kNotFound) << refused.message;
    EXPECT_NE(refused.message.find("no such experiment of user 1001"), std::string::npos) << refused.message;
  }
  EXPECT_EQ(map_refused(store, own).message, map_refused(store, screen).message) << "its own user's it finds";
}

TEST_F(WhoseScreenTest, ALayoutFileMeansTheAskersExperiment) {
  store::Store store = open();
  advice::LayoutFile file;
  file.experiment = "screen";
  const store::Id own = add(store, kOwner, "screen", kScreen);
  const store::Id others = add(store, kOther, "screen", kScreen);
  EXPECT_EQ(experiment_of(store, file, "f.layout", kOwner)->id, own);
  EXPECT_EQ(experiment_of(store, file, "f.layout", kOther)->id, others);
  const auto neither = experiment_of(store, file, "f.layout", 1002);
  ASSERT_FALSE(neither.ok());
  EXPECT_NE(neither.error().message.find("those of several users are called so"), std::string::npos) << neither.error().message;
}

}  // namespace
}  // namespace stab::engine
