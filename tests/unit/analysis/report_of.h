// The report of samples whose analysis must succeed.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "analysis/report/report_data/report.h"

namespace stab::analysis {

inline report::Report report_of(const report::Samples& samples) {
  Result<report::Report> report = report::analyse(samples);
  EXPECT_TRUE(report.ok()) << report.error().text();
  return *std::move(report);
}

}  // namespace stab::analysis
