/* A transport problem with fixed costs for opening a depot: mixed integer, branch and bound over simplex. */
param n := 30;
param m := 60;
set DEPOT := 1..n;
set SHOP := 1..m;
param cost{i in DEPOT, j in SHOP} := 10 + (i * 7919 + j * 104729 + i * j * 31) mod 89;
param open{i in DEPOT} := 150 + (i * 48271) mod 97;
param supply{i in DEPOT} := 60 + (i * 16807) mod 41;
param demand{j in SHOP} := 10 + (j * 69621) mod 17;
var ship{DEPOT, SHOP} >= 0;
var use{DEPOT} binary;
minimize total: sum{i in DEPOT, j in SHOP} cost[i, j] * ship[i, j] + 10 * sum{i in DEPOT} open[i] * use[i];
s.t. limit{i in DEPOT}: sum{j in SHOP} ship[i, j] <= supply[i] * use[i];
s.t. need{j in SHOP}: sum{i in DEPOT} ship[i, j] >= demand[j];
s.t. link{i in DEPOT, j in SHOP}: ship[i, j] <= demand[j] * use[i];
solve;
end;
