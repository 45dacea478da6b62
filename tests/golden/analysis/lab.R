# The analysis of lua-layout in R, without packages:  Rscript this.R data.csv
args <- commandArgs(trailingOnly = TRUE)
d <- read.csv(if (length(args)) args[1] else "data.csv", check.names = FALSE, colClasses = c(seed = "character"))
d <- d[is.na(d$excluded) | d$excluded == "", ]
d$y <- log(d[["wall_time"]])
d <- d[!is.na(d$y), ]
level_of_intervals <- 0.050000000000000003
factors <- c("code", "stack", "heap")
treatments <- character()
d[["code"]] <- factor(d[["code"]], levels = c("off", "shuffle"))
d[["stack"]] <- factor(d[["stack"]], levels = c("zero", "on"))
d[["heap"]] <- factor(d[["heap"]], levels = c("base", "page"))
workloads <- unique(d$workload)
# The unit is the layout: runs of one layout are averaged, unless a cell has one layout only (then they are repeats).
cells <- do.call(paste, c(d[c("workload", factors)], sep = "\r"))
single <- ave(d$layout, cells, FUN = function(x) length(unique(x))) == 1
d$single <- single
u <- aggregate(d["y"], c(d[c("workload", factors)], list(layout = ifelse(single, seq_len(nrow(d)), d$layout))), mean)

# One level against the baseline, cells weighted equally. Within blocks where each holds every cell (blocks that share
# a link are averaged first), else with each cell's own variance (Welch, Satterthwaite).
contrast <- function(data, trials, f, level) {
  others <- setdiff(factors, f); base <- levels(data[[f]])[1]
  key_of <- function(x) if (length(others)) do.call(paste, c(x[others], sep = "\r")) else rep("", nrow(x))
  key <- key_of(data); pairs <- intersect(key[data[[f]] == level], key[data[[f]] == base])
  t <- trials[key_of(trials) %in% pairs & trials[[f]] %in% c(level, base), ]
  cell <- paste(key_of(t), t[[f]], sep = "\r")
  size <- table(t$block); whole <- names(size)[size == 2 * length(pairs)]
  repeated <- anyDuplicated(paste(cell, t$layout)[!t$single & t$link == 0]) > 0
  ran <- t$link > 0 & !t$single
  fresh <- !anyDuplicated(do.call(paste, c(t[ran, c("link", treatments), drop = FALSE], sep = "\r")))  # no link comes back
  mixed <- !fresh && any(tapply(t$link[ran], t$block[ran], function(x) length(unique(x))) > 1)
  if (!repeated && !mixed && !anyDuplicated(paste(cell, t$block)) && length(whole) > 1 && 2 * length(whole) >= length(size)) {
    t <- t[as.character(t$block) %in% whole, ]
    x <- tapply(ifelse(t[[f]] == level, 1, -1) * t$y / length(pairs), t$block, sum)
    link <- tapply(t$link, t$block, max)
    if (!fresh && length(unique(link)) > 1) x <- tapply(x, link, mean)
    estimate <- mean(x); variance <- var(x) / length(x); df <- length(x) - 1
  } else if (any(t$link > 0 & !t$single)) {
    # Links crossed with blocks: both are fitted, then a link is one draw over all its cells.
    all <- trials; all$cell <- do.call(paste, c(all[factors], sep = "\r"))
    all$binary <- ifelse(all$link > 0 & !all$single, do.call(paste, c(all[c("link", treatments)], sep = "\r")), "none")
    all <- aggregate(all["y"], all[c("cell", factors, "block", "link", "binary")], mean)
    C <- length(unique(all$cell)); blocks <- factor(all$block)
    use <- C >= 2 && nrow(all) >= 0.75 * C * nlevels(blocks)
    fit <- if (use) lm(y ~ blocks + cell + binary, all) else lm(y ~ cell + binary, all)
    effect <- coef(fit)[paste0("blocks", all$block)]; effect[is.na(effect)] <- 0
    all$y <- all$y - if (use) effect else 0
    all <- all[key_of(all) %in% pairs & all[[f]] %in% c(level, base), ]
    a <- function(x) ifelse(x[[f]] == level, 1, -1) / length(pairs)
    linked <- all$binary != "none"
    by_link <- aggregate(all["y"][linked, , drop = FALSE], all[linked, c("cell", factors, "link")], mean)
    draws <- tapply(a(by_link) * by_link$y, by_link$link, sum)
    correction <- if (use) C / (C - 1) else 1
    estimate <- mean(draws); variance <- correction * var(draws) / length(draws)
    denominator <- variance^2 / (length(draws) - 1)
    for (one in split(all[!linked, ], all$cell[!linked])) {
      v <- a(one)[1]^2 * correction * var(one$y) / nrow(one)
      estimate <- estimate + a(one)[1] * mean(one$y); variance <- variance + v
      denominator <- denominator + v^2 / (nrow(one) - 1)
    }
    df <- variance^2 / denominator
  } else {
    estimate <- 0; variance <- 0; denominator <- 0
    for (k in pairs) for (side in c(1, -1)) {
      y <- data$y[key == k & data[[f]] == if (side == 1) level else base]
      v <- var(y) / length(y) / length(pairs)^2
      estimate <- estimate + side * mean(y) / length(pairs); variance <- variance + v
      denominator <- denominator + v^2 / (length(y) - 1)
    }
    df <- variance^2 / denominator
  }
  half <- qt(1 - level_of_intervals / 2, df) * sqrt(variance)
  data.frame(factor = f, level = level, estimate = estimate, low = estimate - half, high = estimate + half, df = df,
             p = 2 * pt(-abs(estimate / sqrt(variance)), df))
}
table <- NULL
for (w in workloads) for (f in factors) for (level in levels(d[[f]])[-1])
  table <- rbind(table, cbind(workload = w, contrast(u[u$workload == w, ], d[d$workload == w, ], f, level)))
table$p_holm <- p.adjust(table$p, "holm")
print(table, digits = 6, row.names = FALSE)
cat("\nas ratios\n"); print(transform(table, estimate = exp(estimate), low = exp(low), high = exp(high)), digits = 6, row.names = FALSE)
# Where layouts have several runs their means are analysed, without blocks. Type I: equal to the report's type
# II where cells are balanced.
for (w in workloads) {
  cat("\n", w, "\n")
  one <- d[d$workload == w, ]; one$block <- factor(one$block)
  print(anova(if (nrow(u) < nrow(d)) lm(y ~ `code` * `stack` * `heap`, u[u$workload == w, ]) else
    if (nlevels(one$block) > 1) lm(y ~ `code` * `stack` * `heap` + block, one) else lm(y ~ `code` * `stack` * `heap`, one)))
}
m <- aggregate(u["y"], u[c("workload", factors)], mean)
m$workload <- factor(m$workload)
print(summary(aov(y ~ `code` * `stack` * `heap` + Error(workload / (`code` * `stack` * `heap`)), m)))
