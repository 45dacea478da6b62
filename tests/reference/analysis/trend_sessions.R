# What lies between the sessions of a trend, and intervals that allow for it: Rscript trend_sessions.R > trend_sessions.txt. Base R 4.2,
# no packages. Contradictions are found row by row: the best linear prediction of each difference from those before it (the system of
# kriging with unknown levels), under the covariance that sessions make. sd is Paule and Mandel's, its interval the Q profile's, and the
# tails of widened errors are integrals over sd. Of a chain, in which nothing is repeated, the steps stand for them, each of which is
# something else with a probability of 0.1, and sd is the median of its density.
options(digits = 17)
set.seed(20261130)
number <- function(x) format(x, digits = 17, scientific = TRUE)

pseudo_inverse <- function(A) { s <- svd(A); keep <- s$d > 1e-9 * s$d[1]; s$v[, keep] %*% (t(s$u[, keep]) / s$d[keep]) }

# nights: list(levels, blocks, session); sd between sessions, of a difference
series <- function(name, nights, effects, sd) {
  cat("case", name, "\n")
  arms <- names(effects); sessions <- unique(sapply(nights, function(n) n$session))
  u <- matrix(rnorm(length(sessions) * length(arms), 0, sd / sqrt(2)), length(sessions), dimnames = list(sessions, arms))
  d <- c(); X <- NULL; Z <- NULL; V <- list(); W <- list(); df <- c(); of <- c(); own <- list()
  terms <- as.vector(outer(sessions, arms, paste))
  for (e in seq_along(nights)) {
    night <- nights[[e]]; L <- night$levels; k <- length(L) - 1
    cat("night", e, night$session, "\n")
    base <- rnorm(night$blocks, -1 + 0.1 * e, 0.02)
    y <- sapply(L, function(l) round(exp(base + effects[[l]] + u[night$session, l] + rnorm(night$blocks, 0, 0.01)), 6))
    for (b in seq_len(night$blocks)) for (l in seq_along(L)) cat("row", e, b, L[l], number(y[b, l]), "\n")
    differences <- sweep(log(y)[, -1, drop = FALSE], 1, log(y)[, 1])
    d <- c(d, colMeans(differences)); V[[e]] <- cov(differences) / night$blocks; df[e] <- night$blocks - 1; of <- c(of, rep(e, k))
    W[[e]] <- night$blocks * (diag(k) - matrix(1 / (k + 1), k, k))
    own[[e]] <- (diag(k) + 1) / 2
    for (l in L[-1]) {
      X <- rbind(X, (arms == l) - (arms == L[1]))
      Z <- rbind(Z, (terms == paste(night$session, l)) - (terms == paste(night$session, L[1])))
    }
  }
  X <- X[, -1, drop = FALSE]; n <- length(d)
  block <- function(parts) { out <- matrix(0, n, n); for (e in seq_along(parts)) out[of == e, of == e] <- parts[[e]]; out }
  S <- Z %*% t(Z) / 2; C <- S + 1e-6 * block(own)
  share <- function(w) sapply(seq_along(V), function(e) drop(t(w[of == e]) %*% V[[e]] %*% w[of == e]))
  value_of <- function(a) { s <- share(a); data.frame(y = sum(a * d), se = sqrt(sum(s)), df = sum(s)^2 / sum(s^2 / df)) }
  repeats <- NULL; steps <- NULL
  for (t in seq_len(n)) {
    before <- seq_len(t - 1); x <- X[t, ]
    # As if nothing were unknown: what a row adds to those before it.
    a <- rep(0, n); a[t] <- 1; if (t > 1) a[before] <- -solve(C[before, before], C[before, t])
    a <- a / sqrt(drop(t(a) %*% C %*% a))
    if (drop(t(a) %*% S %*% a) >= 0.5) steps <- rbind(steps, value_of(a))
    if (t == 1) next
    B <- X[before, , drop = FALSE]
    if (qr(rbind(B, x))$rank > qr(B)$rank) next
    K <- rbind(cbind(C[before, before], B), cbind(t(B), matrix(0, ncol(X), ncol(X))))
    a <- rep(0, n); a[t] <- 1; a[before] <- -(pseudo_inverse(K) %*% c(C[before, t], x))[before]
    a <- a / sqrt(drop(t(a) %*% C %*% a))
    if (drop(t(a) %*% S %*% a) >= 0.5) repeats <- rbind(repeats, value_of(a))
  }
  by_repeats <- !is.null(repeats) && nrow(repeats) >= 3
  known <- if (by_repeats) repeats else steps
  m <- nrow(known)
  size <- max(abs(known$y), known$se)
  log_t <- function(sd) { v <- known$se^2 + sd^2; dt(known$y / sqrt(v), known$df * (v / known$se^2)^2, log = TRUE) - log(v) / 2 }
  log_of <- Vectorize(function(sd) if (by_repeats) sum(log_t(sd)) else sum(log(0.9 * exp(log_t(sd)) + 0.1 * exp(log_t(sqrt(sd^2 + 100 * size^2))))))
  top <- max(log_of(size * exp(seq(-12, 8, length.out = 2000))))
  over <- function(f, from = -12, to = 8.5) sum(sapply(seq(from, to - 0.25, by = 0.25), function(a)
    integrate(function(u) { sd <- size * exp(u); sd * exp(log_of(sd) - top) * f(sd) }, a, a + 0.25, rel.tol = 1e-9)$value))
  total <- over(function(sd) 1)
  if (by_repeats) {
    q <- function(v) sum(known$y^2 / (known$se^2 * known$df / (known$df - 2) + v))
    root <- function(target) if (q(0) <= target) 0 else sqrt(uniroot(function(v) q(v) - target, c(0, sum(known$y^2) / target), tol = 1e-18)$root)
    cat("sd 1e-6", number(root(m)), "\nlow 1e-6", number(root(qchisq(0.975, m))), "\nhigh 1e-6", number(root(qchisq(0.025, m))), "\n")
  } else {
    grid <- seq(-12, 8.5, by = 0.01); dens <- size * exp(grid) * exp(log_of(size * exp(grid)) - top)
    at <- function(p) size * exp(approx(cumsum(dens) / sum(dens), grid, p)$y)
    cat("sd 0.1", number(at(0.5)), "\nlow 0.3", number(at(0.025)), "\nhigh 0.1", number(at(0.975)), "\n")
  }
  cat("known", m, "\n")
  Wn <- block(W); M <- solve(t(X) %*% Wn %*% X)
  for (b in 2:length(arms)) for (a in unique(c(1, b - 1))) {
    c <- rep(0, length(arms)); c[b] <- 1; c[a] <- -1; c <- c[-1]
    w <- drop(Wn %*% X %*% M %*% c); s <- share(w)
    se <- sqrt(sum(s)); own_df <- sum(s)^2 / sum(s^2 / df); adds <- drop(t(w) %*% S %*% w)
    tail_of <- function(x) over(function(sd) { v <- se^2 + adds * sd^2; pt(x / sqrt(v), own_df * (v / se^2)^2, lower.tail = FALSE) }) / total
    near <- exp(uniroot(function(u) log(tail_of(exp(u)) / 0.025), log(se) + c(-1, 6), tol = 1e-8)$root)
    cat("value", arms[a], arms[b], number(sum(w * d)), number(max(near, qt(0.975, own_df) * se)), number(se), number(own_df), "\n")
  }
}

night <- function(session, ..., blocks = 8) list(levels = c(...), blocks = blocks, session = session)
series("wandering", list(night("a", "v0", "v1"), night("b", "v0", "v1", "v2", blocks = 6), night("c", "v0", "v2", "v3"),
                         night("d", "v0", "v3", "v4", blocks = 12), night("d", "v0", "v3", "v4"), night("e", "v0", "v4", "v5"),
                         night("f", "v5", "v0", "v6", blocks = 10)),
       c(v0 = 0, v1 = 0, v2 = 0.02, v3 = 0.02, v4 = 0.05, v5 = 0.05, v6 = 0), 0.01)
series("chain", lapply(1:8, function(i) night(letters[i], paste0("v", i - 1), paste0("v", i))),
       setNames(c(0, 0, 0, 0, 0, 0.08, 0.08, 0.08, 0.08), paste0("v", 0:8)), 0.008)
