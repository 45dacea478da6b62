// A broker of a test's own: the real program. Where a test brings a launcher or a helper, it is a copy with those beside it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "stabd/broker/wire/start_broker.h"
#include "tests/places.h"

namespace stab::engine {

// state: a directory that is not there yet, or this test's alone.
inline std::unique_ptr<broker::Client> own_broker(const std::string& state,
                                                  const std::string& program = STAB_PROGRAMS "/stab-broker") {
  broker::StartOptions options;
  options.program = program;
  options.allow_root = true;
  options.state = state;
  auto client = broker::start(options);
  EXPECT_TRUE(client.ok()) << client.error().text();
  if (!client) std::abort();
  return *std::move(client);
}

// A folder of programs as ours, in which `name` is `instead`. Its broker, to be started by own_broker().
inline std::string broker_beside(const std::string& root, const std::string& name, const std::string& instead) {
  namespace fs = std::filesystem;
  const fs::path there = fs::path(root) / "libexec/stab";
  fs::create_directories(there);
  for (const auto& part : fs::directory_iterator(STAB_PROGRAMS)) {
    const fs::path at = there / part.path().filename();
    fs::remove(at);
    if (part.path().filename() == name) fs::copy_file(instead, at);
    else if (part.path().filename() == "stab-broker") fs::copy_file(part, at);  // it looks for the others beside itself
    else fs::create_symlink(part, at);
  }
  return there / "stab-broker";
}

}  // namespace stab::engine
