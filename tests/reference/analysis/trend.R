# Series of experiments and what follows from them for levels that no experiment compares. Estimates and standard errors are those
# of metafor's rma.mv with V as found and weights W as declared (draws times I - J / (k + 1)); degrees of freedom by Satterthwaite's
# formula over the experiments; Q is metafor's of the equal-effects model with V / ((df - k - 1) / df).
# Rscript trend.R > trend.txt; metafor 3.8-1 (Debian: r-cran-metafor), R 4.2.2.
suppressMessages(library(metafor))
options(digits = 17)
set.seed(20261122)

number <- function(x) format(x, digits = 17, scientific = TRUE)

# nights: list of lists(levels = c(...), blocks = n, sd = per level); effects: log effect by level
series <- function(name, nights, effects) {
  cat("case", name, "\n")
  d <- c(); rows <- list(); V <- list(); declared <- list(); larger <- list(); df <- c(); of <- c()
  arms <- names(effects)
  for (e in seq_along(nights)) {
    night <- nights[[e]]
    base <- rnorm(night$blocks, -1 + 0.1 * e, 0.02)  # the machine's
    y <- sapply(night$levels, function(level) round(exp(base + effects[[level]] + rnorm(night$blocks, 0, night$sd)), 6))
    for (b in seq_len(night$blocks)) for (l in seq_along(night$levels)) cat("row", e, b, night$levels[l], number(y[b, l]), "\n")
    ly <- log(y)
    differences <- sweep(ly[, -1, drop = FALSE], 1, ly[, 1])
    d <- c(d, colMeans(differences))
    V[[e]] <- cov(differences) / night$blocks
    for (l in seq_along(night$levels)[-1]) {
      x <- setNames(rep(0, length(arms)), arms)
      x[night$levels[l]] <- 1
      x[night$levels[1]] <- x[night$levels[1]] - 1
      rows[[length(rows) + 1]] <- x
    }
    df[e] <- night$blocks - 1
    k <- length(night$levels) - 1
    declared[[e]] <- night$blocks * (diag(k) - matrix(1 / (k + 1), k, k))
    larger[[e]] <- V[[e]] * df[e] / (df[e] - k - 1)
    of <- c(of, rep(e, length(night$levels) - 1))
  }
  X <- do.call(rbind, rows)[, -1, drop = FALSE]  # against the first arm
  fit <- rma.mv(d, bldiag(V), W = bldiag(declared), mods = X, intercept = FALSE, method = "EE")
  contradictions <- rma.mv(d, bldiag(larger), mods = X, intercept = FALSE, method = "EE")$QE
  W <- bldiag(declared)
  M <- solve(t(X) %*% W %*% X)
  for (b in seq_along(arms)) for (a in seq_len(b - 1)) {
    c <- rep(0, length(arms)); c[b] <- 1; c[a] <- -1; c <- c[-1]
    estimate <- sum(c * coef(fit)); variance <- drop(t(c) %*% vcov(fit) %*% c)
    weights <- drop(W %*% X %*% M %*% c)
    share <- sapply(seq_along(nights), function(e) { i <- of == e; drop(t(weights[i]) %*% V[[e]] %*% weights[i]) })
    cat("value", arms[a], arms[b], number(estimate), number(sqrt(variance)), number(sum(share)^2 / sum(share^2 / df)), "\n")
  }
  cat("q", number(contradictions), length(d) - ncol(X), "\n")
}

night <- function(..., blocks = 10, sd = 0.01) list(levels = c(...), blocks = blocks, sd = sd)
series("chain", list(night("v0", "v1"), night("v1", "v2", blocks = 7), night("v2", "v3", sd = 0.03)),
       c(v0 = 0, v1 = 0.01, v2 = 0.01, v3 = -0.02))
series("anchored", list(night("v0", "v1", "v2"), night("v0", "v2", "v3", blocks = 6), night("v0", "v3", "v4", blocks = 12, sd = 0.02),
                        night("v0", "v4", "v5")),
       c(v0 = 0, v1 = 0, v2 = 0.02, v3 = 0.02, v4 = 0.05, v5 = 0.05))
series("again", list(night("v0", "v1", blocks = 5), night("v0", "v1", blocks = 9, sd = 0.03), night("v1", "v0", "v2", blocks = 5)),
       c(v0 = 0, v1 = 0.03, v2 = 0.01))
