# Reference numbers for what lies between sessions and for e-values: Rscript sessions.R > sessions.txt. Base R alone: roots by uniroot,
# averages by integrate, and none of our grids but the prior's, which are the definition. A case is "case NAME", its controls
# "control DIFFERENCE SE DF" and gates "gate DIFFERENCE SE DF", and "value KEY TOLERANCE NUMBER", the tolerance relative.
options(digits = 17)
say <- function(key, tolerance, value) cat("value", key, tolerance, format(value, digits = 17), "\n")

log_t <- function(y, truth, se, df, sd) {
  v <- se^2 + sd^2
  dt((y - truth) / sqrt(v), df * (v / se^2)^2, log = TRUE) - log(v) / 2
}
half_cauchy <- function(x) 2 / pi * atan(x)
log_sum <- function(x) max(x) + log(sum(exp(x - max(x))))

log_e <- function(gates, controls, margin) {
  size <- 0.01 * 1.02^(0:465)
  upto <- half_cauchy(size * sqrt(1.02)); upto[466] <- 1
  weight <- diff(c(0, upto))
  sds <- c(0, 0.02 * margin * 1.25^(0:20))
  lik <- function(truth, sd) sum(log_t(gates$y, truth, gates$se, gates$df, sd)) + sum(log_t(controls$y, 0, controls$se, controls$df, sd))
  top <- log_sum(outer(seq_along(size), seq_along(sds), Vectorize(function(i, k) log(weight[i]) - log(22) + lik(margin * size[i], sds[k]))))
  # The best difference of 0 or below, by search around each of many: heavy tails have a maximum at each gate.
  null <- function(sd) {
    truths <- sort(unique(c(0, gates$y[gates$y < 0], seq(min(0, gates$y), 0, length.out = 9))))
    at <- sapply(truths, lik, sd)
    if (length(truths) < 2) return(at)
    max(at, sapply(seq_len(length(truths) - 1), function(i) optimize(lik, truths[i + 0:1], sd = sd, maximum = TRUE, tol = 1e-12)$objective))
  }
  starts <- c(0, exp(seq(log(1e-6), log(0.5), length.out = 400)))
  at <- which.max(sapply(starts, null))
  around <- starts[pmax(1, pmin(length(starts), at + c(-1, 1)))]
  top - max(optimize(null, around, maximum = TRUE, tol = 1e-12)$objective, sapply(starts, null))
}

one <- function(name, controls, gate, gates, margin = 0.02) {
  cat("case", name, "\n")
  for (i in seq_len(nrow(controls))) cat("control", format(unlist(controls[i, ]), digits = 17), "\n")
  for (i in seq_len(nrow(gates))) cat("gate", format(unlist(gates[i, ]), digits = 17), "\n")
  k <- nrow(controls)
  if (k >= 2) {
    q <- function(v) sum(controls$y^2 / (controls$se^2 * controls$df / (controls$df - 2) + v))
    root <- function(target) if (q(0) <= target) 0 else sqrt(uniroot(function(v) q(v) - target, c(0, sum(controls$y^2) / target), tol = 1e-16)$root)
    say("sd", 1e-6, root(k))
    say("low", 1e-6, root(qchisq(0.975, k)))
    say("high", 1e-6, root(qchisq(0.025, k)))
    say("q", 1e-12, q(0))
    say("p", 1e-9, pchisq(q(0), k, lower.tail = FALSE))
  }
  if (k >= 3) {
    # The tail of the mixture, by integrals over sd; the density is flat in sd. Up to ten thousand times the largest number.
    size <- max(abs(controls$y), controls$se)
    ll <- Vectorize(function(sd) sum(log_t(controls$y, 0, controls$se, controls$df, sd)))
    grid <- size * exp(seq(-12, 9, length.out = 2000))
    top <- max(ll(grid))
    over <- function(f) sum(sapply(seq(-12, 8.5, by = 0.5), function(a)
      integrate(function(u) { sd <- size * exp(u); sd * exp(ll(sd) - top) * f(sd) }, a, a + 0.5, rel.tol = 1e-10)$value))
    total <- over(function(sd) 1)
    tail_of <- function(x) over(function(sd) { v <- gate$se^2 + sd^2; pt(x / sqrt(v), gate$df * (v / gate$se^2)^2, lower.tail = FALSE) }) / total
    quantile_of <- function(p) exp(uniroot(function(u) log(tail_of(exp(u)) / p), log(gate$se) + c(-2, 8), tol = 1e-10)$root)
    near <- quantile_of(0.025); far <- quantile_of(0.0005)
    say("near", 2e-3, near)
    say("far", 5e-3, far)
  }
  say("log_e", 1e-6, log_e(gates, controls, margin))
}

set.seed(20261126)
sessions <- function(n, between, se, df, truth = 0) data.frame(y = rnorm(n, truth, between) + se * rt(n, df), se = se * sqrt(rchisq(n, df) / df), df = df)
gate <- list(se = 0.003, df = 39)
cat("margin 0.02 gate_se 0.003 gate_df 39\n")
one("one", sessions(1, 0.002, 0.003, 39), gate, sessions(1, 0.002, 0.003, 39, 0.02))
one("three", sessions(3, 0.002, 0.003, 39), gate, sessions(1, 0.002, 0.003, 39, 0.02))
one("five_alike", data.frame(y = c(1, -1, 2, -2, 0.5) * 1e-4, se = 0.003, df = 39), gate, sessions(1, 0.002, 0.003, 39, 0.02))
one("ten", sessions(10, 0.005, 0.003, 19), gate, sessions(2, 0.002, 0.003, 39, 0.02))
one("thirty", sessions(30, 0.002, 0.003, 39), gate, sessions(1, 0.002, 0.003, 9, 0.02))
one("faster", sessions(30, 0.002, 0.003, 39), gate, sessions(2, 0.002, 0.003, 39, -0.02))
# Gates that contradict each other, of few blocks: their mean is not where they are likeliest.
one("contradicting", data.frame(y = c(-0.0008, 0.0095, 0.0006, -0.0008), se = c(0.0061, 0.0172, 0.0051, 0.005), df = c(8, 60, 60, 60)), gate,
    data.frame(y = c(0.0416, -0.1592, -0.1392, -0.117), se = c(0.0807, 0.0647, 0.08, 0.0118), df = c(3, 19, 4, 4)))
