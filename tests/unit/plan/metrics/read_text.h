// What the tests of single formats share: read, or be refused.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/metrics/metrics.h"

namespace stab::metrics {

inline std::vector<Metric> read_ok(std::string_view format, std::string_view text) {
  const auto found = read(*format_named(format), text);
  EXPECT_TRUE(found.ok()) << found.error().text();
  return found ? *found : std::vector<Metric>();
}

inline std::vector<ProcessTime> processes_ok(std::string_view format, std::string_view text) {
  const auto found = read_processes(*format_named(format), text);
  EXPECT_TRUE(found.ok()) << found.error().text();
  return found ? *found : std::vector<ProcessTime>();
}

inline std::string refusal(std::string_view format, std::string_view text) {
  const auto found = read(*format_named(format), text);
  EXPECT_FALSE(found.ok());
  return found ? "" : found.error().message;
}

inline void expect_seconds(const Metric& metric, const std::string& name, double seconds) {
  EXPECT_EQ(metric.name, name);
  ASSERT_TRUE(metric.seconds) << metric.reason;
  EXPECT_NEAR(*metric.seconds, seconds, 1e-9 * seconds);
}

}  // namespace stab::metrics
