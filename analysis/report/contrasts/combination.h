// Combination: a linear combination of cells of one workload with its error, by the route that the data allow. Clusters
// that the data name, unless they are blocks some of which lack a cell; else blocks, else links that recur, else each cell's own
// variance (Welch, Satterthwaite); never that last one for sliced blocks, whose trials are not independent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/draws.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::report {

enum class Route { kBlocks, kClusters, kLinks, kCells };

struct Combination {
  Route route = Route::kCells;
  statistics::TTest test;        // two-sided, 1 - alpha
  double point = 0;              // the estimate alone, also where its own error can't be had
  uint64_t n = 0;                // independent values: the smallest cell's units, or blocks, or clusters
  bool blocked = false;
  bool by_link = false;
  uint64_t blocks_left_out = 0;  // kBlocks: they lack a cell
  std::optional<double> p_rank;  // absent without strata
  double least_p_rank = 0;       // that so many values could come to
  // kBlocks, where no link recurs: the independent values whose mean is the estimate, in the order of the run.
  std::vector<double> draws;
  Shared shared;  // of links that recur, and of clusters
  std::string refused;
};

// strata: pairs of cells to rank within; empty where cells don't pair up. level: the mean of the baseline's cells, so that
// a spread which is the rounding of such numbers is refused. fit: of this workload, made when it is first needed.
Combination test_combination(const CellCoefficients& coefficients, const std::vector<statistics::Stratum2>& strata, double level,
                             double alpha, const WorkloadUnits& workload, std::optional<LinkFit>& fit);

// An estimate of one workload on its way into a mean over workloads.
struct MeanPart {
  const statistics::TTest* test = nullptr;
  const Shared* shared = nullptr;
  bool by_link = false;
  std::string group;  // who may share draws: those of the same group, such as a program whose binaries its workloads run
};

// Whom a workload may share draws with: clusters are named for all of the data, binaries belong to a program.
std::string sharing_group(const Samples& samples, size_t workload, Route route);

struct MeanOfParts {
  statistics::TTest test;  // two-sided, 1 - alpha
  double widened = 1;     // its standard error over that of independent parts
  bool shares = false;    // some parts are not independent
};

// The mean of estimates of which some share draws: a link is the same layout for all workloads of its program, so what it adds to
// their mean counts once. Draws that are known are averaged over the workloads that have them, with the degrees of freedom of the
// part that has the fewest. Of links of which each ran once the standard errors are averaged, the most that they can come to. All
// others are independent; Satterthwaite's degrees of freedom. pre: not empty
MeanOfParts mean_of(const std::vector<MeanPart>& parts, double alpha);

inline constexpr char kSlicedAlike[] =
    "fewer than two sliced blocks hold all the cells that it compares, and trials of one block are not independent; exclude "
    "fewer trials, or run more blocks";
inline constexpr char kOneLayoutASide[] =
    "one layout a side: the difference may be link-order bias; randomize code, or link with several seeds; about = \"binaries\" "
    "asks about the two as they are linked";

}  // namespace stab::report
