# Writes data/dip*.csv, samples with one hump, two and three, and cases_dip.txt, of the form of cases.txt (see generate.R): what
# Hartigan's dip and its p are by the package diptest (r-cran-diptest; its p comes from a table of a million samples a size).
#
#   cd tests/reference/analysis && Rscript generate_dip.R
library(diptest)
options(digits = 17, warn = 1)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
set.seed(1985)
samples <- list(
  uniform = runif(60), normal = rnorm(60), skewed = rexp(60), heavy = rt(60, 3),
  two = c(rnorm(35), rnorm(25, 5)), unequal = c(rnorm(50), rnorm(10, 6)), three = c(rnorm(20), rnorm(20, 6), rnorm(20, 12)),
  near = c(rnorm(30), rnorm(30, 3.2)), even = (1:60)^1.5, sine = sin((1:60) / 9.7))
write.csv(as.data.frame(lapply(samples, round, 9)), "data/dip.csv", row.names = FALSE, quote = FALSE)
sizes <- c(4, 5, 7, 10, 14, 25, 200, 701, 1500)
for (n in sizes)
  write.csv(data.frame(x = round(if (n %% 2 == 0) runif(n) else c(rnorm(n %/% 2), rnorm(n - n %/% 2, 2.7)), 12)), sprintf("data/dip_%d.csv", n),
            row.names = FALSE, quote = FALSE)
out <- file("cases_dip.txt", "w")
cat("# made by generate_dip.R with", R.version.string, "and diptest", as.character(packageVersion("diptest")), "\n", file = out)
case <- function(args, x) {
  stopifnot(!anyDuplicated(x))
  test <- dip.test(x)
  cat("case: dip", args, "\n", file = out)
  cat("statistic 1e-11", num(test$statistic), "\n", file = out)
  # Both p are of simulated samples, and interpolated between sizes; far in the tail diptest says 0.
  cat("p_value", -max(0.005, 0.06 * test$p.value), num(test$p.value), "\n", file = out)
}
d <- read.csv("data/dip.csv")
for (name in names(d)) case(paste("dip.csv --response", name), d[[name]])
for (n in sizes) case(sprintf("dip_%d.csv", n), read.csv(sprintf("data/dip_%d.csv", n))$x)
close(out)
