# Writes cases_sequence.txt, of the form of cases.txt (see generate.R): what confidence sequences of the mean are, by a way of
# its own. Needs nothing but R itself.
#
#   cd tests/reference/analysis && Rscript generate_sequence.R
#
# Nothing of the closed form is used here. The ratio of densities is integrated over the normal mixture of standardized
# differences, from R's noncentral t; the mixture's variance is found by searching for the narrowest interval, and intervals
# by solving for the means at which the ratio is 1/alpha.
#
# Bets, too, are computed from their definition, value by value with all values before each looked at again, and the means that they
# leave out are found by bisection outward from the other interval's ends.
options(digits = 17, warn = -1)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
out <- file("cases_sequence.txt", "w")
cat("# made by generate_sequence.R with", R.version.string, "\n", file = out)
case <- function(args, ..., tol) {
  cat("case:", args, "\n", file = out)
  fields <- list(...)
  for (name in names(fields)) cat(name, tol, num(unname(fields[[name]])), "\n", file = out)
}

log_ratio <- function(t, n, g) {
  at <- function(d) dt(t, n - 1, ncp = d * sqrt(n)) * dnorm(d, 0, sqrt(g))
  # What the mixture and the noncentral density leave lies around t / sqrt(n) or nearer to 0.
  reach <- 9 * (1 / sqrt(n) + abs(t) / n)
  whole <- integrate(at, -reach, t / sqrt(n) + reach, rel.tol = 1e-9, subdivisions = 1000)$value
  log(whole) - dt(t, n - 1, log = TRUE)
}
critical <- function(n, g, alpha) uniroot(function(t) log_ratio(t, n, g) + log(alpha), c(0.5, 25), tol = 1e-9)$root
narrowest <- function(n, alpha) {
  # From the wide end down: for too small a g no t is enough.
  best <- optimize(function(lg) tryCatch(critical(n, exp(lg), alpha), error = function(e) 1e3), log(c(0.25, 4) * (-2 * log(alpha) + 1) / n), tol = 1e-5)
  exp(best$minimum)
}

# Log wealth of who bets that the mean is above m (below: of -x above -m).
log_wealth <- function(x, m, g) {
  z <- (1:12) / 4
  delta <- c(z * sqrt(g), 1, 2)
  weight <- c(0.9 * exp(-z^2 / 2) / sum(exp(-z^2 / 2)), 0.05, 0.05)
  wealth <- sapply(delta, function(d) {
    factors <- sapply(4:length(x), function(i) {
      before <- x[1:(i - 1)]
      s <- sqrt(mean((before - m)^2))
      if (s == 0) return(1)
      against <- 3 * max(abs(before - mean(before))) - (mean(before) - m)
      lambda <- if (against * d / s > 1) 1 / against else d / s
      max(0, 1 + lambda * (x[i] - m))
    })
    sum(log(factors))
  })
  top <- max(wealth)
  if (is.infinite(top)) return(top)
  top + log(sum(weight * exp(wealth - top)))
}
# The upper end: 2 / alpha is what bets below must reach. `end` of the other interval is kept where it is further.
upper <- function(x, g, alpha, end) {
  short <- function(m) log_wealth(-x, -m, g) < log(2 / alpha)
  if (!short(end)) return(end)
  far <- end
  while (short(far)) far <- mean(x) + 1.5 * (far - mean(x))
  for (i in 1:200) { half <- (end + far) / 2; if (short(half)) end <- half else far <- half }
  end
}

for (d in list(list("normal.csv --response x", read.csv("data/normal.csv")$x, 0), list("sleep.csv --response extra", read.csv("data/sleep.csv")$extra, 1), list("insectsprays.csv --response count", read.csv("data/insectsprays.csv")$count, 8))) {
  x <- d[[2]]; n <- length(x)
  for (at in c(12, 30)) for (conf in c(0.95, 0.9)) {
    alpha <- 1 - conf; g <- narrowest(at, alpha)
    se <- sd(x) / sqrt(n); t <- (mean(x) - d[[3]]) / se; k <- critical(n, g, alpha)
    args <- paste("confidence-sequence", d[[1]], "--mu", d[[3]], "--narrowest-at", at, "--conf", conf)
    # A minimum is found to half of the digits of what is minimized, and the interval hardly depends on it.
    case(args, mixture_variance = g, tol = 1e-3)
    case(args, log_e_value = log_ratio(t, n, g), tol = 1e-3)
    case(args, critical_value = k, tol = 1e-5)
    case(args, log_bet = max(log_wealth(x, d[[3]], g), log_wealth(-x, -d[[3]], g)) - log(2), tol = 1e-3)
    case(args, conf_low = -upper(-x, g, alpha, -(mean(x) - k * se)), conf_high = upper(x, g, alpha, mean(x) + k * se), tol = 1e-4)
  }
}
close(out)
