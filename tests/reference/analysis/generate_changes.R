# Writes data/changes.csv, series with and without changes, and cases_changes.txt, of the form of cases.txt (see generate.R):
# what E-divisive (Matteson & James 2014) makes of them. Needs nothing but R itself; ecp is in no Debian package, so each step is
# done here as the paper writes it, with all pairs of values looked at for each split.
#
#   cd tests/reference/analysis && Rscript generate_changes.R
options(digits = 17, warn = 1)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
set.seed(20141)
n <- 60
series <- data.frame(
  steps = round(c(rnorm(20, 10, 0.2), rnorm(25, 10.8, 0.2), rnorm(15, 10.1, 0.2)), 6),
  spread = round(c(rnorm(30, 0, 0.1), rnorm(30, 0, 2)), 6),
  nothing = round(rnorm(n), 6),
  coarse = round(c(rnorm(40, 5), rnorm(20, 8))))
write.csv(series, "data/changes.csv", row.names = FALSE, quote = FALSE)
write.csv(data.frame(x = c(3.1, 1.2, 2.9, 7.7, 9.1, 6.2, 8.4)), "data/changes_few.csv", row.names = FALSE, quote = FALSE)

q <- function(x, y) {  # equations 4 and 5
  m <- length(x); n <- length(y)
  between <- 2 / (m * n) * sum(abs(outer(x, y, "-")))
  within <- function(z) sum(dist(z)) / choose(length(z), 2)
  m * n / (m + n) * (between - within(x) - within(y))
}
best <- function(z, least) {  # equation 6: where, and how large
  out <- c(NA, -Inf)
  if (length(z) < 2 * least) return(out)
  for (at in least:(length(z) - least)) for (end in (at + least):length(z)) {
    one <- q(z[1:at], z[(at + 1):end])
    if (one > out[2] + 1e-13) out <- c(at, one)
  }
  out
}
divide <- function(z, least, times) {  # the first so many splits, and the next
  ends <- c(0, length(z)); found <- matrix(0, 0, 2)
  for (step in 1:(times + 1)) {
    of <- sapply(seq_len(length(ends) - 1), function(i) { b <- best(z[(ends[i] + 1):ends[i + 1]], least); c(b[1] + ends[i], b[2]) })
    of <- of[, which.max(of[2, ])]
    if (step > times) return(list(found = found[order(found[, 1]), , drop = FALSE], nxt = of))
    found <- rbind(found, of); ends <- sort(c(ends, of[1]))
  }
}
out <- file("cases_changes.txt", "w")
cat("# made by generate_changes.R with", R.version.string, "\n", file = out)
case <- function(args, ..., tol = 1e-9) {
  cat("case:", args, "\n", file = out)
  fields <- list(...)
  for (name in names(fields)) cat(name, tol, num(unname(fields[[name]])), "\n", file = out)
}
for (d in list(list("steps", 5, 2), list("steps", 2, 2), list("spread", 5, 1), list("coarse", 8, 1))) {
  r <- divide(series[[d[[1]]]], d[[2]], d[[3]])
  case(paste("e-divisive changes.csv --response", d[[1]], "--least", d[[2]], "--resamples 199"),
       change_points = r$found[, 1], statistics = r$found[, 2], rejected_change_point = r$nxt[1], rejected_statistic = r$nxt[2])
}
r <- divide(series$nothing, 5, 0)
case("e-divisive changes.csv --response nothing --resamples 199", rejected_change_point = r$nxt[1], rejected_statistic = r$nxt[2])
# All orders of seven values: what random ones come near to, within four standard errors.
z <- read.csv("data/changes_few.csv")$x
orders <- function(v) if (length(v) < 2) matrix(v, 1) else do.call(rbind, lapply(seq_along(v), function(i) cbind(v[i], orders(v[-i]))))
seen <- best(z, 2)
p <- mean(apply(orders(z), 1, function(o) best(o, 2)[2] >= seen[2] - 1e-9))
case("e-divisive changes_few.csv --least 2 --resamples 20000", rejected_change_point = seen[1], rejected_statistic = seen[2])
case("e-divisive changes_few.csv --least 2 --resamples 20000", rejected_p_value = p, tol = -4 * sqrt(p * (1 - p) / 20000))
close(out)
