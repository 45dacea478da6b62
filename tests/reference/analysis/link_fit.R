# Cells, blocks and links fitted together, by lm: degrees of freedom and variance of the runs of one binary. Base R alone:
#   Rscript link_fit.R > link_fit.txt
# A case is a line "case NAME CELLS", its rows "row CELL BLOCK LINK LAYOUT Y" (LINK 0: the layout is the trial's own), and
# "value KEY NUMBER". Cells of one `binary` share their links' binaries.
options(digits = 17)
set.seed(20261128)
one <- function(name, binary, blocks, links, drop = 0, link_of = function(b, c) (b + binary[c]) %% links + 1) {
  rows <- expand.grid(block = 1:blocks, cell = seq_along(binary))
  rows$link <- mapply(function(b, c) if (binary[c] == 0) 0 else link_of(b, c), rows$block, rows$cell)
  if (drop > 0) rows <- rows[-sample(nrow(rows), drop), ]
  rows$layout <- ifelse(rows$link == 0, 1000 + seq_len(nrow(rows)), 100 * binary[rows$cell] + rows$link)
  effect <- rnorm(5000, 0, 0.02)
  rows$y <- round(rows$cell / 100 + rnorm(blocks, 0, 0.05)[rows$block] + effect[rows$layout] + rnorm(nrow(rows), 0, 0.01), 8)
  rows$own <- factor(ifelse(rows$link == 0, "none", rows$layout))
  C <- length(unique(rows$cell))
  blocked <- C >= 2 && nrow(rows) >= 0.75 * C * length(unique(rows$block))
  model <- if (blocked) lm(y ~ factor(block) + factor(cell) + own, rows) else lm(y ~ factor(cell) + own, rows)
  left <- residuals(model)[rows$link > 0]
  df <- df.residual(model) * length(left) / nrow(rows)
  cat("case", gsub(" ", "_", name), C, "\n")
  for (i in seq_len(nrow(rows)))
    cat("row", rows$cell[i] - 1, rows$block[i], rows$link[i], rows$layout[i], sprintf("%.17g", rows$y[i]), "\n")
  cat("value run_df", sprintf("%.17g", df), "\n")
  cat("value run_variance", sprintf("%.17g", if (df > 0) sum(left^2) / df else 0), "\n")
}
one("two builds", c(1, 2), 12, 4)
one("two builds by two heaps", c(1, 1, 2, 2), 12, 6)
one("and cells that are drawn", c(1, 1, 2, 2, 0, 0), 12, 6)
one("four heaps of one build", c(1, 1, 1, 1), 8, 3)
one("rows are missing", c(1, 1, 2, 2, 0), 15, 5, drop = 12)
one("too few rows for blocks", c(1, 1, 2, 2, 0), 12, 6, drop = 24)
one("a link for each block", c(1, 1, 2, 2), 9, 3, link_of = function(b, c) b %% 3 + 1)
one("other links in each half", c(1, 1, 2), 8, 8, link_of = function(b, c) if (b <= 4) b %% 4 + 1 else 5 + b %% 4)
