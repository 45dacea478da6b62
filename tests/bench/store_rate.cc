// store_rate [TRIALS [ROUNDS]]: what the trial database costs. Inserts the schedule of an experiment of TRIALS trials
// (100000) into a new database, counts it from a second connection, ROUNDS times (5), and prints medians with their range in
// milliseconds of CPU time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "tests/unit/store/store_fixture.h"

namespace stab::store {
namespace {

int trials = 100'000, rounds = 5;

double milliseconds(std::clock_t from, std::clock_t to) {
  return static_cast<double>(to - from) * 1000 / CLOCKS_PER_SEC;
}

void print(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%-7s %8.1f ms  [%.1f, %.1f]\n", what, times[times.size() / 2], times.front(), times.back());
}

class StoreRate : public StoreTest {};

TEST_F(StoreRate, InsertAndCount) {
  std::vector<double> inserting, counting;
  for (int round = 0; round < rounds; ++round) {
    Store store = open();
    const Id id = *store.add_experiment(new_experiment("rate" + std::to_string(round)));
    Store::Expansion schedule = small_expansion(trials / 4);
    const std::clock_t start = std::clock();
    ASSERT_TRUE(store.expand(id, schedule).ok());
    const std::clock_t inserted = std::clock();
    Store reader = open(Store::Access::kRead);
    ASSERT_EQ(reader.progress(id)->planned_total, trials / 4 * 4);
    counting.push_back(milliseconds(inserted, std::clock()));
    inserting.push_back(milliseconds(start, inserted));
  }
  print("insert", inserting);
  print("count", counting);
}

}  // namespace
}  // namespace stab::store

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) stab::store::trials = std::max(4, std::atoi(argv[1]));
  if (argc > 2) stab::store::rounds = std::max(1, std::atoi(argv[2]));
  return RUN_ALL_TESTS();
}
