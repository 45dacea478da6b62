// What leaves the lab: data anybody can read, and a script that says in R what the report says.
#include "analysis/report/rendering/export.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>

#include "analysis/text/markup.h"
#include "base/number_text.h"

namespace stab::report {
namespace {

// RFC 4180.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

constexpr std::string_view kColumns[] = {"workload", "block", "order", "seed", "link", "layout", "alone", "excluded"};

bool is_ours(const std::string& name) { return std::find(std::begin(kColumns), std::end(kColumns), name) != std::end(kColumns); }

// What a factor's column is called: it may have the name of one of ours, or of one that the R script makes.
std::string column_of(const Factor& factor) {
  for (const char* made : {"y", "single", "cell", "binary"})
    if (factor.name == made) return "factor." + factor.name;
  return is_ours(factor.name) ? "factor." + factor.name : factor.name;
}

// A benchmark may have any name.
std::string column_of(const std::vector<Factor>& factors, const Response& response) {
  const auto same = [&](const Factor& factor) { return column_of(factor) == response.name; };
  const bool taken = is_ours(response.name) || std::any_of(factors.begin(), factors.end(), same);
  return taken ? "response." + response.name : response.name;
}

std::string header(const Samples& samples) {
  std::string line = "workload";
  for (const Factor& factor : samples.factors) line += "," + field(column_of(factor));
  line += samples.is_sliced ? ",block,order,seed,link,layout,alone,excluded" : ",block,order,seed,link,layout,excluded";
  for (const Response& response : samples.responses) line += "," + field(column_of(samples.factors, response));
  return line + "\n";
}

// A string of R.
std::string r_string(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else out += c;
  }
  return out + "\"";
}

// A name in a formula. Names come from files of others: one that ends the quotes would go on as code.
std::string r_name(const std::string& text) {
  std::string out = "`";
  for (char c : text) {
    if (c == '`' || c == '\\') out += '\\';
    out += c;
  }
  return out + "`";
}

std::string vector_of(const std::vector<std::string>& texts) {
  std::string out = "c(";
  for (size_t i = 0; i < texts.size(); ++i) out += (i ? ", " : "") + r_string(texts[i]);
  return out + ")";
}

}  // namespace

std::string export_csv(const Samples& samples) {
  std::string out = header(samples);
  // Numbers of layouts in order of appearance, within workload and cell.
  std::map<std::vector<uint64_t>, uint64_t> layouts;
  std::map<std::vector<uint64_t>, uint64_t> in_cell;
  for (const Trial& trial : samples.trials) {
    std::vector<uint64_t> cell{trial.workload};
    cell.insert(cell.end(), trial.levels.begin(), trial.levels.end());
    std::vector<uint64_t> key(cell);
    key.push_back(samples.unit == Unit::kRow ? trial.order : trial.layout);
    const auto [it, fresh] = layouts.try_emplace(key, 0);
    if (fresh) it->second = ++in_cell[cell];

    out += field(samples.workloads[trial.workload]);
    for (size_t f = 0; f < samples.factors.size(); ++f) out += "," + field(samples.factors[f].levels[trial.levels[f]]);
    out += "," + std::to_string(trial.block) + "," + std::to_string(trial.order) + "," + std::to_string(trial.seed) +
           "," + std::to_string(trial.link) + "," + std::to_string(it->second) +
           (samples.is_sliced ? trial.ran_alone ? ",1," : ",0," : ",") + field(trial.excluded);
    for (const auto& value : trial.values) out += value ? "," + number_text(*value) : std::string(",");
    out += "\n";
  }
  return out;
}

std::string export_csv(const Samples& design, const std::vector<std::vector<WorkloadUnits>>& units) {
  std::string out = header(design);
  for (size_t w = 0; w < units[0].size(); ++w) {
    for (const CellUnits& cell : units[0][w].cells) {
      std::string start = field(design.workloads[w]);
      for (size_t f = 0; f < design.factors.size(); ++f) start += "," + field(design.factors[f].levels[cell.levels[f]]);
      for (size_t i = 0; i < cell.raw.size(); ++i)
        out += start + "," + std::to_string(cell.blocks[i]) + "," + std::to_string(cell.orders[i]) + ",0,0," +
               std::to_string(i + 1) + ",," + number_text(cell.raw[i]) + "\n";
    }
  }
  return out;
}

namespace {

// R's judged(row, draws): what a contrast's row of t's says at this look (judged_estimate.h). A sequence takes p from the normal
// mixture, and both from bets where the estimate is the mean of draws.
std::string judged_by(const Report& report) {
  if (report.sequence_mixture <= 0) return "judged <- function(row, draws) row\n";
  return "n <- " + std::to_string(report.sequence_replicates) + "; g <- " + number_text(report.sequence_mixture) + "; alpha <- " +
         number_text(report.alpha) + "  # replicates, the mixture's variance\n" +
         std::string(R"R(# Log wealth of who bets that the mean is above m (sign 1) or below (-1), by the values before.
log_wealth <- function(x, m, sign) {
  z <- 1:12 / 4
  delta <- c(z * sqrt(g), 1, 2); weight <- c(0.9 * exp(-z^2 / 2) / sum(exp(-z^2 / 2)), 0.05, 0.05)
  wealth <- numeric(length(delta))
  for (i in seq_along(x)[-(1:3)]) {
    before <- x[1:(i - 1)]; spread <- sqrt(mean((before - m)^2))
    if (spread == 0) next
    against <- 3 * max(abs(before - mean(before))) - sign * (mean(before) - m)
    stake <- delta / spread
    stake <- ifelse(against * stake > 1, 1 / against, stake)
    wealth <- wealth + log(pmax(0, 1 + sign * stake * (x[i] - m)))
  }
  top <- max(wealth)
  if (is.infinite(top)) top else top + log(sum(weight * exp(wealth - top)))
}
# An end of t's interval, moved out to where the bets have won 2 / alpha.
widened <- function(x, end, centre, sign) {
  missing <- function(m) max(-1e3, min(1e3, log_wealth(x, m, sign) - log(2 / alpha)))
  far <- end
  for (try in 1:60) {
    if (missing(far) >= 0) return(if (far == end) end else uniroot(missing, sort(c(near, far)), tol = 1e-14)$root)
    near <- far; far <- centre + 1.5 * (far - centre)
  }
  -sign * Inf
}
judged <- function(row, draws) {
  t2 <- qt(row$p / 2, n - 1)^2; r <- 1 + n * g
  row$p <- exp(min(0, log(r) / 2 - n / 2 * (log1p(t2 / (n - 1)) - log1p(t2 / ((n - 1) * r)))))
  if (length(draws)) {
    row$p <- max(row$p, min(1, 2 * exp(-max(log_wealth(draws, 0, 1), log_wealth(draws, 0, -1)))))
    row$low <- widened(draws, row$low, row$estimate, 1)
    row$high <- widened(draws, row$high, row$estimate, -1)
  }
  row
}
)R");
}

// Cells whose trials all ran in one layout, as the script names cells.
std::string repeats_of(const Report& report) {
  std::vector<std::string> cells;
  for (const Cell& cell : report.cells) {
    if (!cell.one_layout || cell.response != report.responses[0].name) continue;
    std::string key = cell.workload;
    for (size_t f = 0; f < cell.levels.size(); ++f)
      if (report.factors[f].levels.size() >= 2) key += "\r" + cell.levels[f];
    cells.push_back(key);
  }
  if (cells.empty()) return "repeats <- character()\n";
  std::string out = "# Cells whose trials all ran in one layout.\nrepeats <- c(";
  for (size_t i = 0; i < cells.size(); ++i) out += (i ? ",\n             " : "") + r_string(cells[i]);
  return out + ")\n";
}

}  // namespace

std::string export_r(const Report& report) {
  const Response& response = report.responses[0];
  std::string varying;
  std::vector<std::string> names, treatments, over_layouts;
  std::string levels;
  for (const Factor& factor : report.factors) {
    if (factor.levels.size() < 2) continue;
    const std::string column = column_of(factor);
    names.push_back(column);
    if (!factor.layout) treatments.push_back(column);
    if (factor.holds_over_layouts()) over_layouts.push_back(column);
    varying += (varying.empty() ? "" : " * ") + r_name(column);
    std::vector<std::string> ordered{factor.levels[factor.baseline]};
    for (size_t i = 0; i < factor.levels.size(); ++i)
      if (i != factor.baseline) ordered.push_back(factor.levels[i]);
    levels += "d[[" + r_string(column) + "]] <- factor(d[[" + r_string(column) + "]], levels = " + vector_of(ordered) + ")\n";
  }
  const std::string level = number_text(report.interval_level);
  std::string out;
  if (!report.stopping.empty())
    out = "# " + report.stopping +
          (report.sequence_mixture > 0 ? "\n# p and intervals are the confidence sequence's.\n"
           : report.interval_level == report.alpha
               ? "\n# Here p is the plain one, and intervals rest on the spread of all replicates.\n"
               : "\n# Here p is the plain one.\n");
  out += "# The analysis of " + (report.experiment.empty() ? "a report" : text::as_line(report.experiment)) +
                    " in R, without packages:  Rscript this.R data.csv\n";
  out += "args <- commandArgs(trailingOnly = TRUE)\n"
         "d <- read.csv(if (length(args)) args[1] else \"data.csv\", check.names = FALSE, colClasses = c(seed = \"character\"))\n"
         "d <- d[is.na(d$excluded) | d$excluded == \"\", ]\n";
  if (report.slicing)
    out += "# Blocks in time slices answer; 1 as a second argument asks those that ran alone, which are their control.\n"
           "alone <- if (length(args) > 1) as.integer(args[2]) else 0\n"
           "d <- d[d$alone == alone, ]\n"
           "sliced <- alone == 0  # trials of a block ran at the same time: never independent values\n";
  else out += "sliced <- FALSE\n";
  out += "d$y <- " + std::string(response.scale == Scale::kLog ? "log(d[[" : "(d[[") +
         r_string(column_of(report.factors, response)) + "]])\n";
  out += "d <- d[!is.na(d$y), ]\nlevel_of_intervals <- " + std::string(level) + "\nfactors <- " + vector_of(names) +
         "\ntreatments <- " + (treatments.empty() ? "character()" : vector_of(treatments)) +
         "\nover_layouts <- " + (over_layouts.empty() ? "character()" : vector_of(over_layouts)) + "\n" + levels;
  out += judged_by(report) + repeats_of(report);
  out += R"R(workloads <- unique(d$workload)
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
)R";
  if (response.scale == Scale::kLog)
    out +=
        "  cat(\"\\nas ratios\\n\")\n"
        "  print(transform(table, estimate = exp(estimate), low = exp(low), high = exp(high)), digits = 6, row.names = FALSE)\n";
  out += "}\n";
  if (!names.empty())
    out +=
        "# Units are analysed, and blocks where each unit lies in one. Type I: equal to the report's types where cells are\n"
        "# balanced. Terms that the cells can't tell from those before them are left out.\n"
        "compares <- function(rows) all(vapply(rows[factors], function(levels) length(unique(levels)) > 1, NA))\n"
        "for (w in workloads) {\n"
        "  cat(\"\\n\", w, \"\\n\")\n"
        "  one <- u[u$workload == w, ]; one$block <- factor(one$block)\n"
        "  if (!compares(one)) cat(\"values of one level only: no table of variance\\n\")\n"
        "  else print(anova(if (!several_blocks && nlevels(one$block) > 1 && nlevels(one$block) < nrow(one)) lm(y ~ " +
        varying + " + block, one) else lm(y ~ " + varying + ", one)))\n}\n";
  const std::vector<std::string>& sampled = report.programs.empty() ? report.workloads : report.programs;
  if (!names.empty() && std::set<std::string>(sampled.begin(), sampled.end()).size() > 1) {
    out += "m <- aggregate(u[\"y\"], u[c(\"workload\", factors)], mean)\n";
    if (!report.programs.empty())
      out += "# Workloads of one program are averaged: programs are what stands for others.\n"
             "program_of <- setNames(" + vector_of(report.programs) + ", " + vector_of(report.workloads) + ")\n"
             "m$workload <- program_of[m$workload]\n"
             "m <- aggregate(m[\"y\"], m[c(\"workload\", factors)], mean)\n";
    out += "m$workload <- factor(m$workload)\n"
           "if (compares(m)) print(summary(aov(y ~ " + varying + " + Error(workload / (" + varying + ")), m)))\n";
  }
  return out;
}

}  // namespace stab::report
