# The analysis of lua-layout in R, without packages:  Rscript this.R data.csv
args <- commandArgs(trailingOnly = TRUE)
d <- read.csv(if (length(args)) args[1] else "data.csv", check.names = FALSE, colClasses = c(seed = "character"))
d <- d[is.na(d$excluded) | d$excluded == "", ]
sliced <- FALSE
d$y <- log(d[["wall_time"]])
d <- d[!is.na(d$y), ]
level_of_intervals <- 0.05
factors <- c("code", "stack", "heap")
treatments <- character()
over_layouts <- character()
d[["code"]] <- factor(d[["code"]], levels = c("off", "shuffle"))
d[["stack"]] <- factor(d[["stack"]], levels = c("zero", "on"))
d[["heap"]] <- factor(d[["heap"]], levels = c("base", "page"))
judged <- function(row, draws) row
# Cells whose trials all ran in one layout.
repeats <- c("fib\roff\rzero\rbase",
             "fib\roff\rzero\rpage",
             "fib\roff\ron\rbase",
             "fib\roff\ron\rpage",
             "strings\roff\rzero\rbase",
             "strings\roff\rzero\rpage",
             "strings\roff\ron\rbase",
             "strings\roff\ron\rpage",
             "loop\roff\rzero\rbase",
             "loop\roff\rzero\rpage",
             "loop\roff\ron\rbase",
             "loop\roff\ron\rpage")
workloads <- unique(d$workload)
quoted <- function(names) sprintf("`%s`", gsub("([\\`])", "\\\\\\1", names))  # names in formulas
# The unit is the layout: runs of one layout are averaged, unless a cell has one layout only (then they are repeats).
cells <- do.call(paste, c(d[c("workload", factors)], sep = "\r"))
single <- cells %in% repeats
d$single <- single
by_unit <- c(d[c("workload", factors)], list(layout = ifelse(single, seq_len(nrow(d)), d$layout)))
u <- aggregate(d[c("y", "block")], by_unit, mean)
several_blocks <- any(aggregate(d["block"], by_unit, function(x) length(unique(x)))$block > 1)

# Links crossed with blocks: both are fitted, then a link is one draw over all its cells. NULL: no cell is as linked, or they
# differ in their links.
by_links <- function(w, trials) {
  all <- trials; all$cell <- do.call(paste, c(all[factors], sep = "\r"))
  all$binary <- ifelse(all$link > 0 & !all$single, do.call(paste, c(all[c("link", treatments)], sep = "\r")), "none")
  all <- aggregate(all["y"], all[c("cell", factors, "block", "link", "binary")], mean)
  C <- length(unique(all$cell)); blocks <- factor(all$block)
  use <- C >= 2 && nrow(all) >= 0.75 * C * nlevels(blocks)
  if (sliced && !use) return(NULL)
  if (!any(all$binary[all$cell %in% names(w)] != "none")) return(NULL)
  fit <- if (use) lm(y ~ blocks + cell + binary, all) else lm(y ~ cell + binary, all)
  own <- residuals(fit)[all$binary != "none"]
  run_df <- df.residual(fit) * length(own) / nrow(all); run <- sum(own^2) / run_df  # runs of one binary
  effect <- coef(fit)[paste0("blocks", all$block)]; effect[is.na(effect)] <- 0
  # What tells blocks apart that share no binary with each other, not even by way of others, is their binaries'.
  mean_of <- ifelse(all$binary == "none", all$cell, all$binary); part <- seq_len(nrow(all))
  repeat {
    joined <- ave(ave(part, all$block, FUN = min), mean_of, FUN = min)
    if (all(joined == part)) break
    part <- joined
  }
  effect <- effect - ave(effect, part)
  all$y <- all$y - if (use) effect else 0
  all <- all[all$cell %in% names(w), ]
  linked <- all$binary != "none"
  by_link <- aggregate(all["y"][linked, , drop = FALSE], all[linked, c("cell", factors, "link")], mean)
  held <- table(by_link$link); whole <- names(held)[held == length(unique(by_link$cell))]
  if (length(whole) < 2 || !sliced && length(whole) < length(held)) return(NULL)
  by_link <- by_link[by_link$link %in% whole, ]
  draws <- tapply(w[by_link$cell] * by_link$y, by_link$link, sum)
  correction <- if (use) C / (C - 1) else 1
  estimate <- mean(draws); variance <- var(draws) / length(draws)
  denominator <- variance^2 / (length(draws) - 1)
  if (use) {  # a block's fitted effect holds a part of the runs' noise, nothing of the links
    rows <- table(all$cell[linked], all$link[linked])[, whole, drop = FALSE]
    noise <- if (run_df > 0) mean(colSums(w[rownames(rows)]^2 / rows)) * run / C else (correction - 1) * var(draws)
    noise_df <- if (run_df > 0) run_df else length(draws) - 1
    variance <- variance + noise / length(draws)
    denominator <- denominator + (noise / length(draws))^2 / noise_df
  }
  for (one in split(all[!linked, ], all$cell[!linked])) {
    if (nrow(one) < 2) return(NULL)
    a <- w[one$cell[1]]
    v <- a^2 * correction * var(one$y) / nrow(one)
    estimate <- estimate + a * mean(one$y); variance <- variance + v
    denominator <- denominator + v^2 / (nrow(one) - 1)
  }
  df <- variance^2 / denominator
  list(estimate = estimate, variance = variance, df = variance^2 / denominator)
}

# One level against the baseline, cells weighted equally. Within blocks where each holds every cell (blocks that share
# a link are averaged first), else with each cell's own variance (Welch, Satterthwaite).
contrast <- function(data, trials, f, level) {
  others <- setdiff(factors, f); base <- levels(data[[f]])[1]
  cell_of <- function(x) do.call(paste, c(x[factors], sep = "\r"))
  key_of <- function(x) if (length(others)) do.call(paste, c(x[others], sep = "\r")) else rep("", nrow(x))
  # w: the weight of each cell's mean. Pairs of cells that differ in f alone; where there are none (a fraction) the
  # coefficient of the linear model of all main effects.
  cells <- unique(data[factors])
  pairs <- intersect(key_of(cells)[cells[[f]] == level], key_of(cells)[cells[[f]] == base])
  # Pairs that hold one layout a side say nothing of a treatment, unless it asks about binaries as they are linked.
  single <- if (f %in% over_layouts) unique(cell_of(trials[trials$single, ])) else character()
  sides <- function(k) cells[key_of(cells) == k & cells[[f]] %in% c(level, base), , drop = FALSE]
  several <- Filter(function(k) !any(cell_of(sides(k)) %in% single), pairs)
  if (length(single) && !length(several)) return(NULL)
  pairs <- several
  if (length(pairs)) {
    w <- ifelse(key_of(cells) %in% pairs, (cells[[f]] == level) - (cells[[f]] == base), 0) / length(pairs)
  } else {
    X <- model.matrix(reformulate(quoted(factors)), cells)
    name <- colnames(model.matrix(reformulate(quoted(f)), cells))
    w <- (solve(crossprod(X)) %*% t(X))[name[match(level, levels(data[[f]]))], ]
  }
  names(w) <- cell_of(cells); w <- w[abs(w) > 1e-12]
  t <- trials[cell_of(trials) %in% names(w), ]
  cell <- cell_of(t)
  runs <- aggregate(t["y"], list(cell = cell, block = t$block), mean)  # runs and counter passes of one block
  size <- table(runs$block); whole <- names(size)[size == length(w)]
  seeded <- !t$single & t$link == 0
  bet_on <- NULL  # independent values whose mean is the estimate
  repeated <- any(tapply(t$block[seeded], paste(cell, t$layout)[seeded], function(x) length(unique(x))) > 1)
  ran <- t$link > 0 & !t$single
  own_runs <- unique(t[ran, c("link", factors, "block"), drop = FALSE])
  fresh <- !anyDuplicated(do.call(paste, c(own_runs[c("link", treatments)], sep = "\r")))  # no link comes back
  mixed <- !fresh && any(tapply(t$link[ran], t$block[ran], function(x) length(unique(x))) > 1)
  if (!repeated && !mixed && length(whole) > 1 && (sliced || 2 * length(whole) >= length(size))) {
    t <- t[as.character(t$block) %in% whole, ]
    runs <- runs[as.character(runs$block) %in% whole, ]
    x <- tapply(w[runs$cell] * runs$y, runs$block, sum)
    link <- tapply(t$link, t$block, max)
    if (!fresh && length(unique(link)) > 1) x <- tapply(x, link, mean)
    estimate <- mean(x); variance <- var(x) / length(x); df <- length(x) - 1
    if (fresh || length(unique(link)) == 1) bet_on <- as.vector(x)
  } else if (!is.null(linked <- by_links(w, trials))) {
    estimate <- linked$estimate; variance <- linked$variance; df <- linked$df
  } else if (sliced) {
    return(NULL)
  } else {
    estimate <- 0; variance <- 0; denominator <- 0
    for (one in names(w)) {
      y <- data$y[cell_of(data) == one]
      v <- w[[one]]^2 * var(y) / length(y)
      estimate <- estimate + w[[one]] * mean(y); variance <- variance + v
      denominator <- denominator + v^2 / (length(y) - 1)
    }
    df <- variance^2 / denominator
  }
  half <- qt(level_of_intervals / 2, df, lower.tail = FALSE) * sqrt(variance)
  row <- data.frame(factor = f, level = level, estimate = estimate, low = estimate - half, high = estimate + half, df = df,
                    p = 2 * pt(-abs(estimate / sqrt(variance)), df))
  judged(row, bet_on)
}
table <- NULL
for (w in workloads) for (f in factors) for (level in levels(d[[f]])[-1]) {
  row <- contrast(u[u$workload == w, ], d[d$workload == w, ], f, level)
  if (!is.null(row)) table <- rbind(table, cbind(workload = w, row))
}
if (is.null(table)) {
  cat("nothing to compare: each factor has one level, or each side one layout\n")
} else {
  table$p_holm <- p.adjust(table$p, "holm")
  print(table, digits = 6, row.names = FALSE)
  cat("\nas ratios\n")
  print(transform(table, estimate = exp(estimate), low = exp(low), high = exp(high)), digits = 6, row.names = FALSE)
}
# Units are analysed, and blocks where each unit lies in one. Type I: equal to the report's types where cells are
# balanced. Terms that the cells can't tell from those before them are left out.
compares <- function(rows) all(vapply(rows[factors], function(levels) length(unique(levels)) > 1, NA))
for (w in workloads) {
  cat("\n", w, "\n")
  one <- u[u$workload == w, ]; one$block <- factor(one$block)
  if (!compares(one)) cat("values of one level only: no table of variance\n")
  else print(anova(if (!several_blocks && nlevels(one$block) > 1 && nlevels(one$block) < nrow(one)) lm(y ~ `code` * `stack` * `heap` + block, one) else lm(y ~ `code` * `stack` * `heap`, one)))
}
m <- aggregate(u["y"], u[c("workload", factors)], mean)
m$workload <- factor(m$workload)
if (compares(m)) print(summary(aov(y ~ `code` * `stack` * `heap` + Error(workload / (`code` * `stack` * `heap`)), m)))
