# CR2 standard errors and Satterthwaite's degrees of freedom as clubSandwich has them (Debian: r-cran-clubsandwich, with
# r-cran-lmtest and r-cran-sandwich beside it):   Rscript cluster_robust.R > cluster_robust.txt
#
# Three shapes of windows in trials, and one without groups. Each is given to clubSandwich whole, group effects as columns; weights
# go in as multiplied rows, so that its working model, equal and independent rows, is that of the weights. For each combination:
# estimate, standard error, degrees of freedom; and the estimate without each cluster in turn, from lm() on what is left.
suppressMessages(library(clubSandwich))
num <- function(x) sprintf("%.17g", x)
cat("# made by cluster_robust.R with clubSandwich", as.character(packageVersion("clubSandwich")), "and", R.version.string, "\n")
emit <- function(name, d, arms, grouped, combinations) {
  X <- sapply(arms, function(a) as.numeric(d$arm == a)); colnames(X) <- arms
  D <- if (grouped) cbind(X, model.matrix(~ 0 + factor(d$group))) else cbind(1, X)
  root <- sqrt(d$weight)
  Z <- D * root; z <- d$y * root
  keep <- function(fit) ifelse(is.na(coef(fit)), 0, coef(fit))
  fit <- lm(z ~ 0 + Z)
  V <- vcovCR(fit, cluster = d$cluster, type = "CR2")
  cat("case", name, if (grouped) "grouped" else "plain", "\n")
  for (i in seq_len(nrow(d))) cat("row", d$cluster[i] - 1, d$group[i] - 1, num(d$weight[i]), num(d$y[i]), X[i, ], "\n")
  first <- if (grouped) 0 else 1
  used <- !is.na(coef(fit))
  for (k in seq_along(combinations)) {
    L <- rep(0, ncol(D)); L[first + seq_along(arms)] <- combinations[[k]]
    test <- linear_contrast(fit, vcov = V, contrasts = matrix(L[used], 1), test = "Satterthwaite", level = 0.95)
    out <- sapply(sort(unique(d$cluster)), function(c) { s <- d$cluster != c; sum(L * keep(lm(z[s] ~ 0 + Z[s, ]))) })
    cat("combination", combinations[[k]], "\n")
    cat("is", num(c(test$Est, test$SE, test$df)), "\n")
    cat("without", num(out), "\n")
  }
}
windows <- function(trials, blocks, arms, repeats, unit_spread, lose, weighted) {
  d <- expand.grid(copy = seq_len(repeats), arm = c("base", arms), block = seq_len(blocks), cluster = seq_len(trials),
                   stringsAsFactors = FALSE)
  d$group <- (d$cluster - 1) * blocks + d$block
  level <- setNames(c(0, seq_along(arms) * 0.05), c("base", arms))
  own <- matrix(rnorm(trials * (1 + length(arms)), sd = unit_spread), trials)
  d$y <- 3 + level[d$arm] + own[cbind(d$cluster, match(d$arm, c("base", arms)))] + rnorm(trials * blocks)[d$group] / 5 +
    rnorm(nrow(d), sd = 0.03)
  d$weight <- if (weighted) round(runif(nrow(d), 20, 400)) else 1
  d$y <- round(d$y, 9)
  d[sample(nrow(d), round(nrow(d) * (1 - lose))), ][order(sample(round(nrow(d) * (1 - lose)))), ]
}
set.seed(54)
arms <- c("a", "b", "c")
combos <- list(c(1, 0, 0), c(0, 0, 1), c(1, -1, 0), c(0.5, 0.5, -1))
emit("balanced", windows(3, 4, arms, 1, 0.02, 0, FALSE), arms, TRUE, combos)
emit("weighted", windows(5, 3, arms, 2, 0.03, 0.2, TRUE), arms, TRUE, combos)
d <- windows(6, 3, arms, 1, 0, 0.1, TRUE); d <- d[!(d$cluster > 2 & d$arm == "c"), ]
emit("arm_in_two_trials", d, arms, TRUE, combos)
emit("no_groups", windows(4, 2, arms, 2, 0.1, 0.15, TRUE), arms, FALSE, combos)
