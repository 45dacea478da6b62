# Writes cases_repetitions.txt, of the form of cases.txt (see generate.R): where to repeat, by trying every combination of whole numbers
# with the formulas of Kalibera & Jones (2013), and from lme4's variances where there is a pilot. Needs lme4.
#
#   cd tests/reference/analysis && Rscript generate_repetitions.R
suppressMessages(library(lme4))
options(digits = 17, warn = -1)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
out <- file("cases_repetitions.txt", "w")
cat("# made by generate_repetitions.R with", R.version.string, "\n", file = out)
half <- function(v, n, sides, alpha) qt(1 - alpha / 2, sides * (n[1] - 1)) * sqrt(sides * sum(v / cumprod(n)))
cost <- function(cs, n) { total <- 0; for (i in rev(seq_along(n))) total <- n[i] * (cs[i] + total); total }
least_cost <- function(v, cs, width, sides, alpha, least, most) {
  best <- list(cost = Inf)
  inner <- if (length(v) > 1) as.matrix(expand.grid(rep(list(seq_len(most)), length(v) - 1))) else matrix(0, 1, 0)
  for (i in seq_len(nrow(inner))) {
    n <- c(least, inner[i, ])
    # Cost rises with the outermost count: beyond the best so far nothing is tried.
    while (half(v, n, sides, alpha) > width && cost(cs, n) < best$cost) n[1] <- n[1] + 1
    if (half(v, n, sides, alpha) <= width && cost(cs, n) < best$cost) best <- list(cost = cost(cs, n), n = n)
  }
  best
}
case <- function(args, v, cs, width, sides = 2, alpha = 0.05, least = 3, most = 40, names_tol = 1e-9) {
  b <- least_cost(v, cs, width, sides, alpha, least, most)
  cat("case:", args, "\n", file = out)
  cat("cost", 10 * names_tol, num(sides * b$cost), "\nhalf_width", names_tol, num(half(v, b$n, sides, alpha)), "\n", file = out)
  for (i in seq_along(b$n)) cat(sprintf("rows.%d.repetitions", i - 1), 1e-12, b$n[i], "\n", file = out)
  k <- length(v)
  if (k > 1) for (i in 2:k) if (v[i - 1] > 0)
    cat(sprintf("rows.%d.unrounded", i - 1), names_tol, num(sqrt(cs[i - 1] / cs[i] * v[i] / v[i - 1])), "\n", file = out)
}
flags <- function(v, cs, width, more = "") paste("plan-repetitions --variances", paste(v, collapse = ","), "--costs", paste(cs, collapse = ","), "--half-width", width, more)
three <- list(c(4, 1, 9), c(60, 5, 0.5), 1)
case(flags(three[[1]], three[[2]], three[[3]]), three[[1]], three[[2]], three[[3]])
case(flags(c(0.5, 4), c(30, 1), 0.7), c(0.5, 4), c(30, 1), 0.7)
case(flags(c(0.2, 0.1, 6), c(100, 10, 1), 0.5, "--sides 1 --alpha 0.1 --least 5"), c(0.2, 0.1, 6), c(100, 10, 1), 0.5, 1, 0.1, 5)
case(flags(2, 3, 0.4), 2, 3, 0.4)
case(flags(c(1, 0, 1), c(10, 2, 1), 0.6), c(1, 0, 1), c(10, 2, 1), 0.6)
# A pilot in rows.
x <- read.csv("data/nested.csv")
cat(names(x), nrow(x), "\n")
v <- as.data.frame(VarCorr(lmer(y ~ 1 + (1 | program / layout), x, control = lmerControl(optimizer = "nloptwrap",
  optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 100000)))))
v <- c(v$vcov[v$grp == "program"], v$vcov[v$grp == "layout:program"], v$vcov[v$grp == "Residual"])
w <- signif(sqrt(2 * sum(v) / 8), 3)
case(paste("repetitions nested.csv --response y --group program,layout --costs 20,4,1 --half-width", w), v, c(20, 4, 1), w, names_tol = 1e-4)
close(out)
