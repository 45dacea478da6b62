// Two builds of several programs on several machines, each row with the random effects of its program, its machine and its link,
// for the rates at which a mixed model's intervals leave the truth out.
#pragma once

#include <string>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/models/mixed_model.h"
#include "base/rng.h"

namespace stab::analysis {

struct MixedShape {
  const char* name;
  uint32_t programs = 6, machines = 3, links = 5;
  double program = 1, machine = 0.5, link = 0.3;  // standard deviations; a row's own is 1
  double build_of_program = 0.5;                  // how much the builds' difference varies between programs
  double lost = 0;                                // share of rows that are not there
};

inline constexpr MixedShape kMixedShapes[] = {
    {.name = "6 programs, 3 machines, 5 links"},
    {.name = "3 programs, 2 machines, 5 links", .programs = 3, .machines = 2},
    {.name = "12 programs, 4 machines, 5 links", .programs = 12, .machines = 4},
    {.name = "6 programs whose differences are alike", .build_of_program = 0},
    {.name = "6 programs, a third of the rows lost", .lost = 1.0 / 3},
    {.name = "6 programs, which differ a lot", .build_of_program = 2},
};

struct MixedRows {
  std::vector<std::vector<double>> columns;  // intercept, build
  std::vector<statistics::RandomTerm> random;
  std::vector<double> values;
};

inline MixedRows mixed_rows(Rng& rng, const MixedShape& shape, double effect) {
  const auto normal = [&] { return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52); };
  const auto draws = [&](uint32_t count, double sd) {
    std::vector<double> out(count);
    for (double& draw : out) draw = sd * normal();
    return out;
  };
  const auto programs = draws(shape.programs, shape.program), machines = draws(shape.machines, shape.machine),
             links = draws(shape.links, shape.link), differences = draws(2 * shape.programs, shape.build_of_program);
  MixedRows rows{{{}, {}},
                 {{"program", {}, shape.programs},
                  {"machine", {}, shape.machines},
                  {"link", {}, shape.links},
                  {"program:build", {}, 2 * shape.programs}},
                 {}};
  for (uint32_t p = 0; p < shape.programs; ++p)
    for (uint32_t m = 0; m < shape.machines; ++m)
      for (uint32_t l = 0; l < shape.links; ++l)
        for (uint32_t build = 0; build < 2; ++build) {
          const double error = normal();
          if ((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52 < shape.lost) continue;
          rows.columns[0].push_back(1);
          rows.columns[1].push_back(build);
          rows.random[0].codes.push_back(p);
          rows.random[1].codes.push_back(m);
          rows.random[2].codes.push_back(l);
          rows.random[3].codes.push_back(2 * p + build);
          rows.values.push_back(10 + programs[p] + machines[m] + links[l] + differences[2 * p + build] + effect * build + error);
        }
  return rows;
}

}  // namespace stab::analysis
