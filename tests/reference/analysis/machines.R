# Reference numbers for contrasts over machines: Rscript machines.R > machines.txt, with lme4.
# A case is a line "case NAME", its rows "row MACHINE BLOCK A B", and "value KEY NUMBER".
suppressMessages(library(lme4))
options(digits = 17)
say <- function(key, value) cat("value", key, format(value, digits = 17), "\n")

one <- function(name, blocks, shift, spread) {
  cat("case", name, "\n")
  machine <- rep(seq_along(blocks), blocks) - 1
  n <- length(machine)
  block <- sample(n) - 1
  level <- rnorm(n, 50, 4)                         # what a block does to both
  d <- shift[machine + 1] + rnorm(n, 0, spread[machine + 1])
  a <- level
  b <- level + d
  for (i in order(block)) cat("row", machine[i], block[i], format(a[i], digits = 17), format(b[i], digits = 17), "\n")
  d <- b - a
  m <- factor(machine)
  means <- tapply(d, m, mean)
  variances <- tapply(d, m, var) / tapply(d, m, length)
  df <- tapply(d, m, length) - 1
  M <- length(means)
  se <- sqrt(sum(variances)) / M
  these_df <- sum(variances)^2 / sum(variances^2 / df)
  say("these", mean(means))
  say("these_se", se)
  say("these_df", these_df)
  say("these_p", 2 * pt(-abs(mean(means) / se), these_df))
  say("these_low", mean(means) - qt(0.975, these_df) * se)
  like <- t.test(means)
  say("like_se", like$stderr)
  say("like_df", like$parameter)
  say("like_p", like$p.value)
  say("like_low", like$conf.int[1])
  say("like_high", like$conf.int[2])
  welch <- oneway.test(d ~ m)
  say("f", welch$statistic)
  say("f_df1", welch$parameter[1])
  say("f_df2", welch$parameter[2])
  say("f_p", welch$p.value)
  # Balanced, and above 0: REML's is the ANOVA estimate.
  if (length(unique(blocks)) == 1) {
    fit <- lmer(d ~ 1 + (1 | m), control = lmerControl(optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14)))
    between <- as.data.frame(VarCorr(fit))$vcov[1]
    if (between > 0) say("between", between)
  }
}

set.seed(2026)
one("alike", c(8, 8, 8, 8), c(1, 1, 1, 1), c(2, 2, 2, 2))
one("different", c(10, 10, 10, 10, 10), c(-3, 0, 2, 4, 7), c(1, 1, 1, 1, 1))
one("uneven", c(4, 9, 6), c(1, 2, 3), c(0.5, 3, 1))
one("two", c(12, 12), c(0, 2), c(1, 1.5))
