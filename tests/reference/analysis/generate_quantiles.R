# Writes data/quantile_blocks.csv, two builds in 36 blocks, and cases_quantiles.txt, of the form of cases.txt (see generate.R): differences of quantiles and of Hodges-Lehmann estimates,
# by ways of their own. Needs nothing but R itself.
#
#   cd tests/reference/analysis && Rscript generate_quantiles.R
#
# Harrell and Davis' quantile is the mean of the sample's quantile function under a beta density, which is integrated step by
# step; the jackknife computes each sample without its draw anew. The band's critical value is sampled from the multivariate t
# (two million draws), so it agrees to a hundredth only. A bootstrap of 20,000 resamples of whole draws says, beside, that
# the jackknife's error is the error: from the lower to the upper quartile within 12 %. Further out both are rough with
# few draws, and the bootstrap, which may draw the outermost value several times, is the larger one (27 % at 0.1 here).
options(digits = 17, warn = -1)
set.seed(7)
n <- 36
common <- rep(rnorm(n, 0, 0.02), 2)
error <- rt(2 * n, 3) * 0.01
build <- rep(c("old", "new"), each = n)
time <- exp(log(0.5) + common + error + ifelse(build == "new", 0.01 + 0.01 * rexp(2 * n), 0))
write.csv(data.frame(time = sprintf("%.9f", time), build, block = rep(1:n, 2)), "data/quantile_blocks.csv", row.names = FALSE, quote = FALSE)

set.seed(20261122)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
out <- file("cases_quantiles.txt", "w")
cat("# made by generate_quantiles.R with", R.version.string, "\n", file = out)
case <- function(args, ..., tol) {
  cat("case:", args, "\n", file = out)
  fields <- list(...)
  for (name in names(fields)) cat(name, tol, num(unname(fields[[name]])), "\n", file = out)
}

hd <- function(x, p) {
  n <- length(x); s <- sort(x)
  w <- vapply(seq_len(n), function(i) integrate(dbeta, (i - 1) / n, i / n, shape1 = (n + 1) * p, shape2 = (n + 1) * (1 - p), rel.tol = 1e-11)$value, 0)
  sum(w / sum(w) * s)
}
jack <- function(x, p) vapply(seq_along(x), function(i) hd(x[-i], p), 0)
few <- function(n, p) min(n - 1, 5 * sqrt(n * p * (1 - p)))

shift <- function(args, x, y, paired, probs, conf, boot) {
  est <- vapply(probs, function(p) hd(x, p) - hd(y, p), 0)
  jx <- sapply(probs, function(p) jack(x, p)); jy <- sapply(probs, function(p) jack(y, p))
  v <- function(j) { n <- nrow(j); (n - 1)^2 / n * cov(j) }
  if (paired) {
    V <- v(jx - jy); df <- vapply(probs, function(p) few(length(x), p), 0)
  } else {
    V <- v(jx) + v(jy)
    df <- vapply(seq_along(probs), function(q) {
      a <- v(jx)[q, q]; b <- v(jy)[q, q]
      (a + b)^2 / (a^2 / few(length(x), probs[q]) + b^2 / few(length(y), probs[q]))
    }, 0)
  }
  se <- sqrt(diag(V)); k <- qt((1 + conf) / 2, df)
  fields <- list()
  for (q in seq_along(probs)) {
    at <- function(name) sprintf("rows.%d.%s", q - 1, name)
    fields[[at("first")]] <- hd(x, probs[q]); fields[[at("second")]] <- hd(y, probs[q])
    fields[[at("estimate")]] <- est[q]; fields[[at("standard_error")]] <- se[q]; fields[[at("df")]] <- df[q]
    fields[[at("p_value")]] <- 2 * pt(-abs(est[q] / se[q]), df[q])
    fields[[at("conf_low")]] <- est[q] - k[q] * se[q]; fields[[at("conf_high")]] <- est[q] + k[q] * se[q]
  }
  do.call(case, c(list(args), fields, tol = 1e-6))
  # The maximum of a multivariate t.
  draws <- 2e6; e <- eigen(cov2cor(V), symmetric = TRUE)
  root <- e$vectors %*% diag(sqrt(pmax(e$values, 0)))
  most <- numeric(draws)
  for (part in 1:20) {
    rows <- ((part - 1) * draws / 20 + 1):(part * draws / 20)
    z <- matrix(rnorm(length(rows) * length(probs)), ncol = length(probs)) %*% t(root)
    most[rows] <- do.call(pmax, as.data.frame(abs(z))) / sqrt(rchisq(length(rows), min(df)) / min(df))
  }
  case(args, critical_value = quantile(most, conf), tol = 0.015)
  if (!boot) return(invisible())
  again <- replicate(20000, {
    i <- sample(length(x), replace = TRUE); j <- if (paired) i else sample(length(y), replace = TRUE)
    vapply(probs, function(p) hdq(x[i], p) - hdq(y[j], p), 0)
  })
  spread <- apply(matrix(again, nrow = length(probs)), 1, sd)
  fields <- list()
  for (q in which(probs >= 0.25 & probs <= 0.75)) fields[[sprintf("rows.%d.standard_error", q - 1)]] <- spread[q]
  do.call(case, c(list(args), fields, tol = 0.12))
}
# As hd, by weights that are kept: the bootstrap asks for the same ones again and again.
weights <- new.env()
hdq <- function(x, p) {
  key <- paste(length(x), p)
  if (is.null(weights[[key]])) weights[[key]] <- diff(pbeta(0:length(x) / length(x), (length(x) + 1) * p, (length(x) + 1) * (1 - p)))
  sum(weights[[key]] * sort(x))
}

tooth <- read.csv("data/toothgrowth.csv")
shift("shift-function toothgrowth.csv --response len --group supp --probs 0.25,0.5,0.75", tooth$len[tooth$supp == "OJ"],
      tooth$len[tooth$supp == "VC"], FALSE, c(0.25, 0.5, 0.75), 0.95, TRUE)
sleep <- read.csv("data/sleep.csv")
shift("shift-function sleep.csv --response extra --group group --pair ID --probs 0.5", sleep$extra[sleep$group == 1],
      sleep$extra[sleep$group == 2], TRUE, 0.5, 0.95, FALSE)
b <- read.csv("data/quantile_blocks.csv")
for (conf in c(0.95, 0.9))
  shift(paste("shift-function quantile_blocks.csv --response time --group build --pair block --conf", conf),
        b$time[b$build == "new"], b$time[b$build == "old"], TRUE, c(0.1, 0.25, 0.5, 0.75, 0.9), conf, conf == 0.95)
shift("shift-function quantile_blocks.csv --response time --group build --log --probs 0.5,0.8", log(b$time[b$build == "new"]),
      log(b$time[b$build == "old"]), FALSE, c(0.5, 0.8), 0.95, FALSE)
# Hodges-Lehmann of the blocks' differences, with and without ties: R's own.
w <- wilcox.test(b$time[b$build == "new"], b$time[b$build == "old"], paired = TRUE, conf.int = TRUE)
case("wilcoxon quantile_blocks.csv --response time --group build --pair block", estimate = w$estimate, conf_low = w$conf.int[1],
     conf_high = w$conf.int[2], p_value = w$p.value, tol = 1e-9)
close(out)
