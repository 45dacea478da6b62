# Golden numbers of a fraction, in base R:  Rscript tests/reference/analysis/fraction.R > tests/reference/analysis/fraction.txt
# A half of four two-level factors (d = a:b:c) with 3 to 6 values a cell whose spreads differ. First the values, then by
# contrast estimate, standard error, df and p (Welch, Satterthwaite over the eight cells), then sums of squares of type III and p with HC3.
set.seed(18)
cells <- expand.grid(a = c(-1, 1), b = c(-1, 1), c = c(-1, 1))
cells$d <- cells$a * cells$b * cells$c
n <- c(3, 4, 5, 6, 3, 4, 5, 6)
rows <- cells[rep(1:8, n), ]
rows$y <- round(100 + 3 * rows$a + 2 * rows$d + 1.5 * rows$a * rows$b + rnorm(nrow(rows), sd = rep(c(1, 2, 3, 1, 2, 3, 1, 2), n)), 3)
for (i in seq_len(nrow(rows))) cat("row", (unlist(rows[i, c("a", "b", "c", "d")]) + 1) / 2, sprintf("%.3f", rows$y[i]), "\n")
cell <- rep(1:8, n)
means <- tapply(rows$y, cell, mean); variances <- tapply(rows$y, cell, var)
# Each cell's mean counts once: least squares on the means of cells, its coefficients as weights of them.
X <- model.matrix(~ a + b + c + d, cells)
W <- 2 * solve(crossprod(X)) %*% t(X)
for (f in c("a", "b", "c", "d")) {
  parts <- W[f, ]^2 * variances / n
  se <- sqrt(sum(parts)); df <- sum(parts)^2 / sum(parts^2 / (n - 1)); estimate <- sum(W[f, ] * means)
  cat("contrast", f, sprintf("%.17g", c(estimate, se, df, 2 * pt(-abs(estimate / se), df))), "\n")
}
# Type III by hand: each term after all others, columns coded -1 and 1. a:b = c:d, a:c = b:d, a:d = b:c go by their first names.
terms <- c("a", "b", "c", "d", "a:b", "a:c", "a:d")
rss <- function(use) sum(resid(lm(reformulate(c("1", use), "y"), rows))^2)
for (t in terms) cat("squares", t, sprintf("%.17g", rss(setdiff(terms, t)) - rss(terms)), "\n")
cat("squares residuals", sprintf("%.17g", rss(terms)), "\n")
# The same hypotheses with HC3 (MacKinnon and White 1985): each is a coefficient, of one degree of freedom.
m <- lm(reformulate(terms, "y"), rows); M <- model.matrix(m); bread <- solve(crossprod(M))
V <- bread %*% crossprod(M * (resid(m) / (1 - hatvalues(m)))) %*% bread
for (t in terms) cat("robust", t, sprintf("%.17g", pf(coef(m)[t]^2 / V[t, t], 1, df.residual(m), lower.tail = FALSE)), "\n")
