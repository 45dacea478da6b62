# R's p-values on skewed and heavy-tailed samples, which analysis_calibration_test makes again from the same
# generator (Park & Miller's minimal standard, exact in doubles): the size that tests have there is a fact about the
# tests, so ours must reject the very same samples.
#   cd tests/reference/analysis && Rscript calibration.R > calibration.txt
options(digits = 15)
state <- 20240607
uniform <- function(n) { u <- numeric(n); for (i in seq_len(n)) { state <<- (16807 * state) %% 2147483647; u[i] <- state / 2147483647 }; u }
cat("# made by calibration.R with", R.version.string, ": shape n samples; for each test: rejections at 5 %, sum of p\n")
for (shape in c("lognormal", "t3")) for (n in c(10, 30)) {
  p <- matrix(0, 1000, 4)
  for (s in 1:1000) {
    u <- uniform(2 * n); x <- if (shape == "lognormal") exp(qnorm(u)) else qt(u, 3)
    a <- x[1:n]; b <- x[n + 1:n]
    p[s, ] <- c(t.test(a, b)$p.value, t.test(a, b, var.equal = TRUE)$p.value, wilcox.test(a, b)$p.value, t.test(a, b, paired = TRUE)$p.value)
  }
  cat(shape, n, 1000, as.vector(rbind(colSums(p < 0.05), colSums(p))), "\n", sep = " ")
}
