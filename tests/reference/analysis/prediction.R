# Reference numbers for a new session against stored ones: Rscript prediction.R > prediction.txt. Base R's predict.lm of a mean alone.
# A case is "case NAME", its stored logarithms "stored NUMBER", the new one "now NUMBER", and the answer "value KEY NUMBER": the mean,
# sd, both ends of the 95 % prediction interval of now - mean around what was seen, and the upper end at 90 %.
set.seed(23)
one <- function(name, stored, now) {
  cat("case", name, "\n")
  for (y in stored) cat("stored", format(y, digits = 17), "\n")
  cat("now", format(now, digits = 17), "\n")
  fit <- lm(y ~ 1, data.frame(y = stored))
  at <- function(level) predict(fit, data.frame(one = 1), interval = "prediction", level = level)
  say <- function(key, value) cat("value", key, format(value, digits = 17), "\n")
  say("mean", mean(stored))
  say("sd", sd(stored))
  say("low", now - at(0.95)[, "upr"])
  say("high", now - at(0.95)[, "lwr"])
  say("upper", now - at(0.90)[, "lwr"])
}
one("two", c(-1.02, -0.98), -0.9)
one("three", c(-3.35708, -3.29061, -3.31), -3.28)
one("eight", rnorm(8, -1, 0.02), -0.93)
one("twenty", rnorm(20, 2, 0.005), 1.999)
one("heavy", c(rnorm(11, 0, 0.01), 0.3), 0.02)
