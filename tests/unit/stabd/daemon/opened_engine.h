// An engine of a test's own, on lab.db in its directory.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/clock.h"
#include "stabd/engine/experiment/engine.h"
#include "tests/unit/stabd/engine/own_broker.h"

namespace stab::daemon {

inline std::unique_ptr<engine::Engine> opened_engine(const std::string& directory, const Clock& clock) {
  engine::Engine::Options options;
  options.database = directory + "/lab.db";
  options.clock = &clock;
  options.broker = engine::own_broker(directory + "/broker");
  auto engine = engine::Engine::open(options);
  EXPECT_TRUE(engine.ok()) << engine.error().text();
  if (!engine) std::abort();
  return *std::move(engine);
}

}  // namespace stab::daemon
