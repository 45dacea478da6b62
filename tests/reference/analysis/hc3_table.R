# Golden numbers of p (HC3) in a report, by car:  Rscript tests/reference/analysis/hc3_table.R > tests/reference/analysis/hc3_table.txt
# Two factors in cells of unequal numbers and spreads. Of each term F and p of type III with contr.sum, and p of the same hypothesis
# with HC3.
suppressPackageStartupMessages(library(car))
set.seed(40)
cells <- expand.grid(a = 0:1, b = 0:2)
n <- c(4, 7, 5, 9, 3, 6); spread <- c(0.5, 0.02, 0.1, 0.4, 0.05, 0.2); mean <- c(10, 10.1, 10.3, 9.8, 10, 10.4)
rows <- cells[rep(1:6, n), ]
rows$y <- round(rnorm(nrow(rows), rep(mean, n), rep(spread, n)), 4)
for (i in seq_len(nrow(rows))) cat("row", rows$a[i], rows$b[i], sprintf("%.4f", rows$y[i]), "\n")
for (f in c("a", "b")) rows[[f]] <- factor(rows[[f]])
m <- lm(y ~ a * b, rows, contrasts = list(a = contr.sum, b = contr.sum))
plain <- Anova(m, type = 3); robust <- suppressMessages(Anova(m, type = 3, white.adjust = "hc3"))
for (t in c("a", "b", "a:b")) cat("term", t, sprintf("%.17g", c(plain[t, "F value"], plain[t, "Pr(>F)"], robust[t, "Pr(>F)"])), "\n")
