# Where a trend changed for good: the first split of E-divisive (Matteson and James 2014, equations 4 to 6, alpha = 1, segments of two
# values at least) in the cases of trend.txt, and the share of 20,000 series without a change that have a larger one. Those are drawn
# as the trend's errors are: for each experiment normal draws with the covariance that it found, through the network with its declared
# weights, and all of them times sqrt(df / chi-squared of df), with the least df by Satterthwaite of a step between two levels.
# Rscript trend_changes.R < trend.txt > trend_changes.txt; R 4.2.2, no packages.
options(digits = 17)
set.seed(20261123)
lines <- strsplit(trimws(readLines(file("stdin"))), " +")
number <- function(x) format(x, digits = 17, scientific = TRUE)

largest <- function(x) {
  n <- length(x); D <- abs(outer(x, x, "-")); best <- c(NA, -Inf)
  for (s in 2:(n - 2)) for (e in (s + 2):n) {
    a <- seq_len(s); b <- (s + 1):e; m <- s; k <- e - s
    within <- function(i) sum(D[i, i][upper.tri(D[i, i])])
    q <- 2 / (m + k) * (sum(D[a, b]) - k / (m - 1) * within(a) - m / (k - 1) * within(b))
    if (q > best[2]) best <- c(s, q)
  }
  best
}

changes <- function(name, rows) {
  arms <- unique(rows$level)
  if (length(arms) < 4) return(invisible())
  X <- NULL; d <- c(); parts <- list()
  for (e in unique(rows$night)) {
    r <- rows[rows$night == e, ]; levels <- unique(r$level)
    y <- sapply(levels, function(l) log(r$value[r$level == l])); k <- length(levels) - 1
    differences <- sweep(y[, -1, drop = FALSE], 1, y[, 1])
    x <- t(sapply(levels[-1], function(l) (arms == l) - (arms == levels[1])))
    parts[[length(parts) + 1]] <- list(i = length(d) + seq_len(k), V = cov(differences) / nrow(y), df = nrow(y) - 1, W = nrow(y) * (diag(k) - 1 / (k + 1)))
    d <- c(d, colMeans(differences)); X <- rbind(X, x)
  }
  X <- X[, -1, drop = FALSE]; W <- matrix(0, length(d), length(d))
  for (p in parts) W[p$i, p$i] <- p$W
  A <- solve(t(X) %*% W %*% X) %*% t(X) %*% W
  seen <- largest(c(0, A %*% d))
  as_large <- 0
  steps <- diff(rbind(0, A))
  df <- min(apply(steps, 1, function(w) {
    share <- sapply(parts, function(p) drop(t(w[p$i]) %*% p$V %*% w[p$i]))
    sum(share)^2 / sum(share^2 / sapply(parts, function(p) p$df))
  }))
  for (round in 1:20000) {
    error <- numeric(length(d))
    for (p in parts) error[p$i] <- t(chol(p$V)) %*% rnorm(length(p$i)) 
    as_large <- as_large + (largest(c(0, A %*% error * sqrt(df / rchisq(1, df))))[2] >= seen[2])
  }
  cat(name, seen[1], number(seen[2]), number((as_large + 1) / 20001), "\n")
}

name <- NULL; rows <- NULL
for (l in lines) {
  if (l[1] == "case") { name <- l[2]; rows <- NULL }
  if (l[1] == "row") rows <- rbind(rows, data.frame(night = as.integer(l[2]), block = as.integer(l[3]), level = l[4], value = as.numeric(l[5])))
  if (l[1] == "q") changes(name, rows)
}
