// What leaves the lab: data anybody can read, and a script that says in R what the report says.
#include "analysis/export.h"

#include <cstdio>
#include <map>
#include <set>

namespace stab::analysis {
namespace {

// RFC 4180.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string header(const Samples& samples) {
  std::string line = "workload";
  for (const Factor& factor : samples.factors) line += "," + field(factor.name);
  line += ",block,order,seed,link,layout,excluded";
  for (const Response& response : samples.responses) line += "," + field(response.name);
  return line + "\n";
}

// A string of R.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string vector_of(const std::vector<std::string>& texts) {
  std::string out = "c(";
  for (size_t i = 0; i < texts.size(); ++i) out += (i ? ", " : "") + quoted(texts[i]);
  return out + ")";
}

}  // namespace

std::string export_csv(const Samples& samples) {
  size_t code_index = 0;
  const Factor* code = code_factor(samples, &code_index);
  std::string out = header(samples);
  // Numbers of layouts in order of appearance, within workload and cell.
  std::map<std::vector<uint64_t>, uint64_t> layouts;
  std::map<std::vector<uint64_t>, uint64_t> in_cell;
  for (const Trial& trial : samples.trials) {
    std::vector<uint64_t> cell{trial.workload};
    cell.insert(cell.end(), trial.levels.begin(), trial.levels.end());
    std::vector<uint64_t> key(cell);
    const bool fixed = !code || fixes_layout(code->levels[trial.levels[code_index]]);
    if (samples.unit == Unit::kRow) key.push_back(trial.order);
    else key.insert(key.end(), {trial.link, fixed ? 0 : trial.seed});
    const auto [it, fresh] = layouts.try_emplace(key, 0);
    if (fresh) it->second = ++in_cell[cell];

    out += field(samples.workloads[trial.workload]);
    for (size_t f = 0; f < samples.factors.size(); ++f) out += "," + field(samples.factors[f].levels[trial.levels[f]]);
    out += "," + std::to_string(trial.block) + "," + std::to_string(trial.order) + "," + std::to_string(trial.seed) +
           "," + std::to_string(trial.link) + "," + std::to_string(it->second) + "," + field(trial.excluded);
    for (const auto& value : trial.values) out += value ? "," + number(*value) : std::string(",");
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
        out += start + ",0," + std::to_string(cell.orders[i]) + ",0,0," + std::to_string(i + 1) + ",," +
               number(cell.raw[i]) + "\n";
    }
  }
  return out;
}

std::string export_r(const Report& report) {
  const Response& response = report.responses[0];
  std::string varying;
  std::vector<std::string> names, treatments;
  std::string levels;
  for (const Factor& factor : report.factors) {
    if (factor.levels.size() < 2) continue;
    names.push_back(factor.name);
    if (!factor.layout) treatments.push_back(factor.name);
    varying += (varying.empty() ? "" : " * ") + std::string("`") + factor.name + "`";
    std::vector<std::string> ordered{factor.levels[factor.baseline]};
    for (size_t i = 0; i < factor.levels.size(); ++i)
      if (i != factor.baseline) ordered.push_back(factor.levels[i]);
    levels += "d[[" + quoted(factor.name) + "]] <- factor(d[[" + quoted(factor.name) + "]], levels = " +
              vector_of(ordered) + ")\n";
  }
  char level[32];
  std::snprintf(level, sizeof level, "%.17g", report.interval_level);
  std::string out;
  if (!report.stopping.empty())
    out = "# " + report.stopping + "\n# Here p is the plain one" + (report.interval_level == report.alpha ? ", and intervals rest on the spread of all replicates" : "") + ".\n";
  out += "# The analysis of " + (report.experiment.empty() ? "a report" : report.experiment) +
                    " in R, without packages:  Rscript this.R data.csv\n";
  out += "args <- commandArgs(trailingOnly = TRUE)\n"
         "d <- read.csv(if (length(args)) args[1] else \"data.csv\", check.names = FALSE, colClasses = c(seed = \"character\"))\n"
         "d <- d[is.na(d$excluded) | d$excluded == \"\", ]\n";
  out += "d$y <- " + std::string(response.scale == Scale::kLog ? "log(d[[" : "(d[[") + quoted(response.name) + "]])\n";
  out += "d <- d[!is.na(d$y), ]\nlevel_of_intervals <- " + std::string(level) + "\nfactors <- " + vector_of(names) + "\ntreatments <- " +
         (treatments.empty() ? "character()" : vector_of(treatments)) + "\n" + levels;
  out += R"R(workloads <- unique(d$workload)
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
)R";
  if (response.scale == Scale::kLog)
    out += "cat(\"\\nas ratios\\n\"); print(transform(table, estimate = exp(estimate), low = exp(low), high = exp(high)), digits = 6, "
           "row.names = FALSE)\n";
  if (!names.empty())
    out += "# Where layouts have several runs their means are analysed, without blocks. Type I: equal to the report's type\n"
           "# II where cells are balanced.\n"
           "for (w in workloads) {\n"
           "  cat(\"\\n\", w, \"\\n\")\n"
           "  one <- d[d$workload == w, ]; one$block <- factor(one$block)\n"
           "  print(anova(if (nrow(u) < nrow(d)) lm(y ~ " + varying + ", u[u$workload == w, ]) else\n"
           "    if (nlevels(one$block) > 1) lm(y ~ " + varying + " + block, one) else lm(y ~ " + varying + ", one)))\n}\n";
  const std::vector<std::string>& sampled = report.programs.empty() ? report.workloads : report.programs;
  if (!names.empty() && std::set<std::string>(sampled.begin(), sampled.end()).size() > 1) {
    out += "m <- aggregate(u[\"y\"], u[c(\"workload\", factors)], mean)\n";
    if (!report.programs.empty())
      out += "# Workloads of one program are averaged: programs are what stands for others.\n"
             "program_of <- setNames(" + vector_of(report.programs) + ", " + vector_of(report.workloads) + ")\n"
             "m$workload <- program_of[m$workload]\n"
             "m <- aggregate(m[\"y\"], m[c(\"workload\", factors)], mean)\n";
    out += "m$workload <- factor(m$workload)\n"
           "print(summary(aov(y ~ " + varying + " + Error(workload / (" + varying + ")), m)))\n";
  }
  return out;
}

}  // namespace stab::analysis
