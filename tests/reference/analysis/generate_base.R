# Writes what needs nothing but R itself: cases_base.txt, of the form of cases.txt (see generate.R), and ranks.txt.
#
#   cd tests/reference/analysis && Rscript generate_base.R
#
# ranks.txt: exact two-sided p of rank tests, "p | first ; second | first ; second ..." with one pair of samples a stratum.
# p is R's wilcox.test(exact = TRUE) for one stratum without ties, else the share of all rearrangements within strata whose
# weighted rank sum lies as far from its expectation as the one seen.
options(digits = 17, warn = -1)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
read <- function(name) read.csv(file.path("data", paste0(name, ".csv")))
out <- file("cases_base.txt", "w")
cat("# made by generate_base.R with", R.version.string, "\n", file = out)
case <- function(args, ..., tol = 1e-10) {
  cat("case:", args, "\n", file = out)
  fields <- list(...)
  for (name in names(fields)) cat(name, tol, num(unname(fields[[name]])), "\n", file = out)
}

# ---- p-values of a family --------------------------------------------------------------------------------
p <- read("pvalues")$p
case("hochberg pvalues.csv", adjusted = p.adjust(p, "hochberg"))
case("by pvalues.csv", adjusted = p.adjust(p, "BY"))

# ---- the interval of a variance --------------------------------------------------------------------------
bonett <- function(x, conf) {  # Bonett (2006), eq. 6 to 8
  n <- length(x); z <- qnorm(1 - (1 - conf) / 2); c <- n / (n - z)
  m <- mean(x, trim = 1 / (2 * sqrt(n - 4)))
  kurtosis <- n * sum((x - m)^4) / sum((x - mean(x))^2)^2
  se <- c * sqrt((kurtosis - (n - 3) / n) / (n - 1))
  exp(log(c * var(x)) + c(-1, 1) * z * se)
}
for (conf in c(0.95, 0.9)) for (d in list(list("normal.csv --response x", read("normal")$x), list("large.csv --response x", read("large")$x), list("exponential5000.csv", read("exponential5000")$x))) {
  x <- d[[2]]; n <- length(x); a <- 1 - conf
  case(paste("variance", d[[1]], "--conf", conf), estimate = var(x), df = n - 1,
       conf_low = (n - 1) * var(x) / qchisq(1 - a / 2, n - 1), conf_high = (n - 1) * var(x) / qchisq(a / 2, n - 1),
       robust_conf_low = bonett(x, conf)[1], robust_conf_high = bonett(x, conf)[2],
       sd_conf_low = sqrt((n - 1) * var(x) / qchisq(1 - a / 2, n - 1)))
}
case("variance three.csv", estimate = var(read("three")$x), conf_low = 2 * var(read("three")$x) / qchisq(0.975, 2), robust_conf_low = NA)

# ---- Fieller's ratio: the ratios that the t test keeps, by root finding ----------------------------------
satterthwaite <- function(x, y, r) { v <- c(var(x) / length(x), r^2 * var(y) / length(y)); sum(v)^2 / sum(v^2 / (c(length(x), length(y)) - 1)) }
statistic <- function(x, y, r) (mean(x) - r * mean(y)) / sqrt(var(x) / length(x) + r^2 * var(y) / length(y))
ends <- function(excess, at, reach) c(uniroot(excess, c(at - reach, at), tol = 1e-14)$root, uniroot(excess, c(at, at + reach), tol = 1e-14)$root)
fieller <- function(args, x, y, r, conf, reach) {
  ratio <- mean(x) / mean(y); df <- satterthwaite(x, y, ratio)
  e <- ends(function(q) statistic(x, y, q)^2 - qt(1 - (1 - conf) / 2, df)^2, ratio, reach)
  t <- statistic(x, y, r)
  case(paste("fieller", args), estimate = ratio, df = df, statistic = t, p_value = 2 * pt(-abs(t), satterthwaite(x, y, r)), df_at_rho = satterthwaite(x, y, r))
  case(paste("fieller", args), conf_low = e[1], conf_high = e[2], tol = 1e-9)
}
large <- split(read("large")$x, read("large")$g)
fieller("large.csv --response x --group g --rho 0.98", large$a, large$b, 0.98, 0.95, 0.5)
s <- split(read("sleep")$extra, read("sleep")$group)
fieller("sleep.csv --response extra --group group --conf 0.9", s[[1]], s[[2]], 1, 0.9, 3)
t <- function(r) { d <- s[[1]] - r * s[[2]]; mean(d) / (sd(d) / sqrt(length(d))) }
e <- ends(function(q) t(q)^2 - qt(0.975, 9)^2, mean(s[[1]]) / mean(s[[2]]), 3)
case("fieller sleep.csv --response extra --group group --pair ID --rho 0.5", estimate = mean(s[[1]]) / mean(s[[2]]), statistic = t(0.5), p_value = 2 * pt(-abs(t(0.5)), 9))
case("fieller sleep.csv --response extra --group group --pair ID", conf_low = e[1], conf_high = e[2], tol = 1e-9)

# ---- power far out: the definition, integrated ------------------------------------------------------------
far <- function(n, delta, alpha) {  # one sample, two-sided: T > t where the chi variable is small enough
  critical <- qt(alpha / 2, n - 1, lower = FALSE)
  integrate(function(z) dnorm(z) * pchisq((n - 1) * ((z + delta * sqrt(n)) / critical)^2, n - 1), -9, 9, rel.tol = 1e-12)$value
}
case("power-t --design one.sample --n 3 --delta 1300 --alpha 1e-6", power = far(3, 1300, 1e-6), tol = 1e-8)
case("power-t --design one.sample --n 2 --delta 2e4 --alpha 1e-5", power = far(2, 2e4, 1e-5), tol = 1e-8)
case("power-t --design one.sample --n 5 --delta 800 --alpha 1e-12", power = far(5, 800, 1e-12), tol = 1e-8)
f_far <- function(df1, df2, lambda, alpha) {  # the numerator is (z + sqrt(lambda))^2 + chi-squared(df1 - 1), whose spread is nothing beside lambda
  critical <- qf(alpha, df1, df2, lower = FALSE)
  integrate(function(z) dnorm(z) * pchisq(df2 * ((z + sqrt(lambda))^2 + df1 - 1) / df1 / critical, df2), -9, 9, rel.tol = 1e-12)$value
}
# lambda = (groups - 1) n between / within
case("power-anova --groups 3 --n 2 --between-var 1e6 --alpha 1e-9", power = f_far(2, 3, 2 * 2 * 1e6, 1e-9), tol = 1e-6)
case("power-anova --groups 4 --n 2 --between-var 3e7 --alpha 1e-14", power = f_far(3, 4, 3 * 2 * 3e7, 1e-14), tol = 1e-6)
close(out)

# ---- exact ranks -----------------------------------------------------------------------------------------
out <- file("ranks.txt", "w")
cat("# made by generate_base.R with", R.version.string, "\n", file = out)
line <- function(p, strata) cat(num(p), paste0("| ", sapply(strata, function(s) paste(paste(num(s[[1]]), collapse = " "), ";", paste(num(s[[2]]), collapse = " ")))), "\n", file = out)
enumerated <- function(strata) {
  sums <- lapply(strata, function(s) {
    all <- rank(c(s[[1]], s[[2]])); m <- length(s[[1]]); n <- length(all)
    list(seen = (sum(all[seq_len(m)]) - m * (n + 1) / 2) / (n + 1), every = (apply(combn(n, m), 2, function(i) sum(all[i])) - m * (n + 1) / 2) / (n + 1))
  })
  every <- 0
  for (s in sums) every <- as.vector(outer(every, s$every, "+"))
  seen <- sum(sapply(sums, `[[`, "seen"))
  mean(abs(every) >= abs(seen) * (1 - 1e-9) - 1e-12)
}
exact <- function(x, y) line(wilcox.test(x, y, exact = TRUE)$p.value, list(list(x, y)))
set.seed(7)
exact(c(1, 2, 3), c(4, 5, 6)); exact(c(1, 2), c(3, 4)); exact(c(1, 2, 3, 4), c(5, 6, 7, 8, 9))
for (i in 1:6) { x <- sample(1000, 18 + i); exact(x[1:(8 + i)], x[-(1:(8 + i))]) }
x <- sample(10000, 98); exact(x[1:49], x[50:98])
strata <- list(
  list(list(c(1, 2, 2), c(2, 3, 5))), list(list(c(1, 1, 1, 2), c(1, 2, 2, 2, 3))), list(list(c(5, 5), c(5, 6, 6, 6))),
  list(list(1:3, 4:6), list(c(2, 4, 9), c(5, 6, 8))), list(list(1:2, 3:4), list(c(1, 5, 7), c(2, 6, 8, 9))),
  list(list(c(1, 1, 2), c(2, 2, 3)), list(c(4, 7), c(4, 8)), list(1:2, 2:4)),
  list(list(c(3, 1), c(2, 9)), list(c(1, 2, 3), c(1, 9)), list(4, 5:8), list(c(1, 6), c(2, 3, 4))))
for (s in strata) line(enumerated(s), s)
close(out)
