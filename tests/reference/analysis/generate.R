# Writes the data sets and the values that tests/unit/analysis/reference_test.cc compares `stabctl stats` with.
#
#   cd tests/reference/analysis && Rscript generate.R
#
# Needs R 4.2 with car, multcomp, mvtnorm, boot, nortest, lme4, coin, afex (Debian: r-base-core r-cran-car ...). Not part of
# the checks: the values are stored in cases.txt. A case is a line "case: ARGUMENTS OF stabctl stats", then lines
# "field tolerance value...": relative tolerance, dotted paths into the JSON (rows.0.p_value).
suppressMessages({library(car); library(mvtnorm); library(nortest); library(lme4); library(coin); library(afex)})
options(digits = 17, warn = -1)
set.seed(20240607)

num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
out <- file("cases.txt", "w")
cat("# made by generate.R with", R.version.string, "\n", file = out)
case <- function(args, ..., tol = 1e-10) {
  cat("case:", args, "\n", file = out)
  fields <- list(...)
  for (name in names(fields)) {
    value <- fields[[name]]
    t <- tol
    if (is.list(value)) { t <- value$tol; value <- value$value }
    cat(name, t, num(unname(value)), "\n", file = out)
  }
}
approx <- function(value, tol) list(value = value, tol = tol)
data_file <- function(d, name) write.csv(d, file.path("data", paste0(name, ".csv")), row.names = FALSE, quote = FALSE)

# ---- data ------------------------------------------------------------------------------------------------
data_file(sleep, "sleep"); data_file(npk, "npk"); data_file(warpbreaks, "warpbreaks")
data_file(ToothGrowth, "toothgrowth"); data_file(PlantGrowth, "plantgrowth"); data_file(InsectSprays, "insectsprays")
data_file(data.frame(speed = as.numeric(morley$Speed), expt = morley$Expt, run = morley$Run), "morley")
normal <- data.frame(x = round(rnorm(40, 10, 2), 6), g = rep(c("a", "b"), c(25, 15)))
data_file(normal, "normal")
ties <- data.frame(x = c(1, 2, 2, 3, 4, 4, 4, 5, 6, 7, 2, 3, 3, 5, 6, 6, 7, 8, 8, 9, 9), g = rep(c("a", "b"), c(10, 11)))
data_file(ties, "ties")
times <- data.frame(time = round(exp(rnorm(60, log(0.5), 0.05)), 9), opt = rep(c("O2", "O3"), 30), prog = rep(c("lua", "bzip2", "sqlite"), each = 20))
data_file(times, "times")
large <- data.frame(x = round(c(rnorm(120, 100, 5), rnorm(100, 102, 9)), 4), g = rep(c("a", "b"), c(120, 100)))
data_file(large, "large")
far <- data.frame(x = c(1e6 + 1:20 / 7, 1e6 + 1:20 / 7 + 500), g = rep(c("a", "b"), each = 20))
far$x <- as.numeric(formatC(far$x, digits = 15, format = "g"))
write.csv(data.frame(x = formatC(far$x, digits = 15, format = "g"), g = far$g), "data/far.csv", row.names = FALSE, quote = FALSE)
unbalanced <- expand.grid(rep = 1:4, a = c("a1", "a2"), b = c("b1", "b2", "b3"))
unbalanced$y <- round(rnorm(24, as.integer(unbalanced$a) + 2 * as.integer(unbalanced$b), 1 + as.integer(unbalanced$b) / 2), 5)
unbalanced <- unbalanced[-c(1, 2, 7, 13, 20), c("y", "a", "b")]
data_file(unbalanced, "unbalanced")
within <- expand.grid(id = paste0("s", 1:8), a = c("a1", "a2", "a3"), b = c("b1", "b2"))
within$y <- round(rnorm(48, as.integer(within$a) + rnorm(8)[as.integer(within$id)], 1), 5)
data_file(within, "within")
nested <- expand.grid(run = 1:3, layout = paste0("l", 1:6), program = paste0("p", 1:5))
nested$y <- round(rnorm(90, 10 + rnorm(5, 0, 2)[as.integer(nested$program)] + rnorm(30, 0, 1)[as.integer(interaction(nested$program, nested$layout))], 0.5), 5)
data_file(nested[c("y", "program", "layout")], "nested")
nested_u <- nested[-c(3, 4, 5, 18, 19, 40, 41, 77), ]
data_file(nested_u[c("y", "program", "layout")], "nested_unbalanced")
pvals <- data.frame(p = c(0.01, 0.02, 0.03, 0.04, 0.05, 0.0001, 0.5, 0.03))
data_file(pvals, "pvalues")
small <- data.frame(x = c(3.1, 4.7, 2.2)); data_file(small, "three")
n5000 <- data.frame(x = round(rexp(5000), 6)); data_file(n5000, "exponential5000")

# ---- descriptive -----------------------------------------------------------------------------------------
x <- normal$x
case("describe normal.csv --response x", n = 40, mean = mean(x), median = median(x), sd = sd(x), variance = var(x),
     mad = mad(x), min = min(x), max = max(x), q25 = quantile(x, .25), q75 = quantile(x, .75),
     geometric_mean = exp(mean(log(x))), conf_low = t.test(x)$conf.int[1], conf_high = t.test(x)$conf.int[2],
     geometric_conf_low = exp(t.test(log(x))$conf.int[1]))
for (type in 1:9)
  case(paste("quantile ties.csv --response x --probs 0.05,0.1,0.25,0.333,0.5,0.75,0.9,1 --type", type),
       quantiles = quantile(ties$x, c(0.05, 0.1, 0.25, 0.333, 0.5, 0.75, 0.9, 1), type = type))

# ---- normality -------------------------------------------------------------------------------------------
shapiro <- function(name, args, x) { s <- shapiro.test(x); case(paste("shapiro-wilk", args), statistic = s$statistic, p_value = approx(s$p.value, 1e-8)) }
shapiro("normal", "normal.csv --response x", x)
shapiro("three", "three.csv", small$x)
shapiro("exp", "exponential5000.csv", n5000$x)
shapiro("ties", "ties.csv --response x", ties$x)
shapiro("times", "times.csv --response time --log", log(times$time))
s1 <- shapiro.test(sleep$extra[sleep$group == 1]); s2 <- shapiro.test(sleep$extra[sleep$group == 2])
case("shapiro-wilk sleep.csv --response extra --group group", groups.0.statistic = s1$statistic, groups.1.statistic = s2$statistic,
     groups.0.p_value = approx(s1$p.value, 1e-8), groups.1.p_value = approx(s2$p.value, 1e-8))
for (d in list(list("normal.csv --response x", x), list("large.csv --response x", large$x), list("exponential5000.csv", n5000$x))) {
  a <- ad.test(d[[2]])
  case(paste("anderson-darling", d[[1]]), statistic = a$statistic, p_value = approx(a$p.value, 1e-8))
}

# ---- t tests ---------------------------------------------------------------------------------------------
tcase <- function(args, t, estimate) case(args, statistic = t$statistic, df = t$parameter, p_value = t$p.value, estimate = estimate,
  conf_low = if (is.finite(t$conf.int[1])) t$conf.int[1] else NA, conf_high = if (is.finite(t$conf.int[2])) t$conf.int[2] else NA)
for (alt in c("two.sided", "less", "greater")) {
  t <- t.test(extra ~ group, sleep, alternative = alt); tcase(paste("welch sleep.csv --response extra --group group --alternative", alt), t, -diff(t$estimate))
  t <- t.test(extra ~ group, sleep, var.equal = TRUE, alternative = alt, mu = 0.3); tcase(paste("student sleep.csv --response extra --group group --mu 0.3 --alternative", alt), t, -diff(t$estimate))
  t <- with(sleep, t.test(extra[group == 1], extra[group == 2], paired = TRUE, alternative = alt)); tcase(paste("paired-t sleep.csv --response extra --group group --pair ID --alternative", alt), t, t$estimate)
  t <- t.test(x, mu = 9.5, alternative = alt, conf.level = 0.9); tcase(paste("one-sample-t normal.csv --response x --mu 9.5 --conf 0.9 --alternative", alt), t, t$estimate)
}
t <- t.test(x ~ g, far); tcase("welch far.csv --response x --group g", t, -diff(t$estimate))
t <- t.test(len ~ supp, ToothGrowth); tcase("welch toothgrowth.csv --response len --group supp", t, -diff(t$estimate))
lo <- t.test(x ~ g, large, alternative = "greater", mu = -4); hi <- t.test(x ~ g, large, alternative = "less", mu = 4)
ci <- t.test(x ~ g, large, conf.level = 0.9)$conf.int
case("tost large.csv --response x --group g --delta 4", p_value = max(lo$p.value, hi$p.value), p_value_low = lo$p.value, p_value_high = hi$p.value,
     statistic_low = lo$statistic, statistic_high = hi$statistic, conf_low = ci[1], conf_high = ci[2])

# ---- ranks -----------------------------------------------------------------------------------------------
y1 <- sleep$extra[sleep$group == 1]; y2 <- sleep$extra[sleep$group == 2]
# Without ties R finds the asymptotic estimate by a root search in a step function, anywhere between the two middle
# differences; ours is their mean.
rank_ci <- function(w, tol) list(estimate = approx(unname(w$estimate), if (tol > 1e-5) -2e-3 else tol), conf_low = approx(if (is.finite(w$conf.int[1])) w$conf.int[1] else NA, tol), conf_high = approx(if (is.finite(w$conf.int[2])) w$conf.int[2] else NA, tol))
rcase <- function(args, w, tol) do.call(case, c(list(args, statistic = w$statistic, p_value = w$p.value), rank_ci(w, tol)))
for (alt in c("two.sided", "less", "greater")) {
  w <- wilcox.test(x ~ g, normal, alternative = alt, conf.int = TRUE); rcase(paste("mann-whitney normal.csv --response x --group g --alternative", alt), w, 1e-10)
  w <- wilcox.test(x ~ g, large, alternative = alt, conf.int = TRUE); rcase(paste("mann-whitney large.csv --response x --group g --alternative", alt), w, 2e-4)
  w <- wilcox.test(x, mu = 9.5, alternative = alt, conf.int = TRUE); rcase(paste("wilcoxon normal.csv --response x --mu 9.5 --alternative", alt), w, 1e-10)
  w <- wilcox.test(large$x, mu = 100, alternative = alt, conf.int = TRUE); rcase(paste("wilcoxon large.csv --response x --mu 100 --alternative", alt), w, 2e-4)
  w <- wilcox.test(x ~ g, ties, alternative = alt); case(paste("mann-whitney ties.csv --response x --group g --alternative", alt), statistic = w$statistic, p_value = w$p.value)
  w <- wilcox.test(x ~ g, ties, alternative = alt, correct = FALSE); case(paste("mann-whitney ties.csv --response x --group g --no-continuity --alternative", alt), statistic = w$statistic, p_value = w$p.value)
  w <- wilcox.test(y1, y2, paired = TRUE, alternative = alt); case(paste("wilcoxon sleep.csv --response extra --group group --pair ID --alternative", alt), statistic = w$statistic, p_value = w$p.value)
  e <- coin::wilcox_test(x ~ factor(g), ties, distribution = "exact", alternative = alt); case(paste("mann-whitney ties.csv --response x --group g --exact --alternative", alt), p_value = as.numeric(pvalue(e)))
  e <- coin::wilcoxsign_test(y1 ~ y2, distribution = "exact", zero.method = "Wilcoxon", alternative = alt); case(paste("wilcoxon sleep.csv --response extra --group group --pair ID --exact --alternative", alt), p_value = as.numeric(pvalue(e)))
}
w <- wilcox.test(x ~ g, normal, exact = FALSE); case("mann-whitney normal.csv --response x --group g --asymptotic", statistic = w$statistic, p_value = w$p.value)
k <- kruskal.test(count ~ spray, InsectSprays); case("kruskal insectsprays.csv --response count --group spray", statistic = k$statistic, df = k$parameter, p_value = k$p.value)
k <- kruskal.test(weight ~ group, PlantGrowth);
case("kruskal plantgrowth.csv --response weight --group group", statistic = k$statistic, df = k$parameter, p_value = k$p.value)
f <- friedman.test(y ~ a | id, within[within$b == "b1", ])
data_file(within[within$b == "b1", c("id", "a", "y")], "blocks")
case("friedman blocks.csv --response y --group a --block id", statistic = f$statistic, df = f$parameter, p_value = f$p.value)

# ---- variances -------------------------------------------------------------------------------------------
l <- leveneTest(count ~ spray, InsectSprays, center = median); case("brown-forsythe insectsprays.csv --response count --group spray", statistic = l$`F value`[1], df = l$Df[1], df2 = l$Df[2], p_value = l$`Pr(>F)`[1])
l <- leveneTest(count ~ spray, InsectSprays, center = mean); case("levene insectsprays.csv --response count --group spray", statistic = l$`F value`[1], df = l$Df[1], df2 = l$Df[2], p_value = l$`Pr(>F)`[1])

# ---- analysis of variance --------------------------------------------------------------------------------
table_fields <- function(a, n) {
  fields <- list()
  for (i in 1:n) {
    fields[[paste0("rows.", i - 1, ".df")]] <- a$Df[i]
    fields[[paste0("rows.", i - 1, ".sum_squares")]] <- a$`Sum Sq`[i]
    if (i < n) { fields[[paste0("rows.", i - 1, ".statistic")]] <- a$`F value`[i]; fields[[paste0("rows.", i - 1, ".p_value")]] <- a$`Pr(>F)`[i] }
  }
  fields
}
acase <- function(args, a, tol = 1e-9) do.call(case, c(list(args), table_fields(a, nrow(a)), list(tol = tol)))
acase("anova plantgrowth.csv --response weight --group group", anova(lm(weight ~ group, PlantGrowth)))
acase("anova warpbreaks.csv --response breaks --group wool,tension", anova(lm(breaks ~ wool * tension, warpbreaks)))
acase("anova toothgrowth.csv --response len --group supp,dose", anova(lm(len ~ supp * factor(dose), ToothGrowth)))
acase("anova unbalanced.csv --response y --group a,b", anova(lm(y ~ a * b, unbalanced)))
acase("anova unbalanced.csv --response y --group a,b --additive", anova(lm(y ~ a + b, unbalanced)))
acase("anova npk.csv --response yield --group N,P,K --block block --additive", anova(lm(yield ~ block + N + P + K, npk)))
acase("anova npk.csv --response yield --group block,N,P,K --model block+N*P+K", anova(lm(yield ~ block + N * P + K, npk)))
m <- lm(y ~ a * b, unbalanced, contrasts = list(a = contr.sum, b = contr.sum))
for (type in 2:3) {
  a <- Anova(m, type = type); if (type == 3) a <- a[-1, ]
  acase(paste("anova unbalanced.csv --response y --group a,b --type", type), a)
  h <- Anova(m, type = type, white.adjust = "hc3"); if (type == 3) h <- h[-1, ]
  case(paste("anova-hc3 unbalanced.csv --response y --group a,b --type", type), rows.0.statistic = h$F[1], rows.1.statistic = h$F[2], rows.2.statistic = h$F[3],
       rows.0.p_value = h$`Pr(>F)`[1], rows.1.p_value = h$`Pr(>F)`[2], rows.2.p_value = h$`Pr(>F)`[3], tol = 1e-8)
}
o <- oneway.test(count ~ spray, InsectSprays[InsectSprays$count > 0 | TRUE, ]); case("welch-anova insectsprays.csv --response count --group spray", statistic = o$statistic, df = o$parameter[1], df2 = o$parameter[2], p_value = o$p.value)
strata_case <- function(args, fit, tol = 1e-9) {
  fields <- list(); i <- 0
  for (s in summary(fit)) {
    a <- s[[1]]
    for (r in seq_len(nrow(a))) {
      fields[[paste0("rows.", i, ".df")]] <- a$Df[r]; fields[[paste0("rows.", i, ".sum_squares")]] <- a$`Sum Sq`[r]
      if (!is.null(a$`F value`) && !is.na(a$`F value`[r])) { fields[[paste0("rows.", i, ".statistic")]] <- a$`F value`[r]; fields[[paste0("rows.", i, ".p_value")]] <- a$`Pr(>F)`[r] }
      i <- i + 1
    }
  }
  do.call(case, c(list(args), fields, list(tol = tol)))
}
strata_case("anova-error npk.csv --response yield --group N,P,K --pair block", aov(yield ~ N * P * K + Error(block), npk))
strata_case("anova-error sleep.csv --response extra --group group --pair ID", aov(extra ~ group + Error(ID), sleep))
wb <- warpbreaks; wb$id <- factor(rep(1:9, 6)); data_file(wb, "warpbreaks_id")
strata_case("anova-error warpbreaks_id.csv --response breaks --group wool,tension --pair id --error id+id:wool", aov(breaks ~ wool * tension + Error(id / wool), wb))
tg <- ToothGrowth; tg$id <- factor(rep(1:10, 6)); tg$dose <- factor(tg$dose); data_file(tg, "toothgrowth_id")
strata_case("anova-error toothgrowth_id.csv --response len --group supp,dose --pair id --error id+id:supp+id:dose+id:supp:dose", aov(len ~ supp * dose + Error(id / (supp * dose)), tg))
afex_case <- function(args, fit) {
  a <- suppressWarnings(summary(fit)); u <- a$univariate.tests; e <- a$pval.adjustments; sph <- a$sphericity.tests
  fields <- list(); i <- 0
  for (term in rownames(u)[-1]) {
    p <- paste0("rows.", i, ".")
    fields[[paste0(p, "df")]] <- u[term, "num Df"]; fields[[paste0(p, "df2")]] <- u[term, "den Df"]
    fields[[paste0(p, "sum_squares")]] <- u[term, "Sum Sq"]; fields[[paste0(p, "statistic")]] <- u[term, "F value"]; fields[[paste0(p, "p_value")]] <- u[term, "Pr(>F)"]
    if (!is.null(e) && term %in% rownames(e)) {
      fields[[paste0(p, "gg_epsilon")]] <- e[term, "GG eps"]; fields[[paste0(p, "p_value_gg")]] <- e[term, "Pr(>F[GG])"]
      fields[[paste0(p, "hf_epsilon")]] <- e[term, "HF eps"]; fields[[paste0(p, "p_value_hf")]] <- e[term, "Pr(>F[HF])"]
      fields[[paste0(p, "mauchly_w")]] <- sph[term, "Test statistic"]; fields[[paste0(p, "mauchly_p")]] <- sph[term, "p-value"]
    }
    i <- i + 1
  }
  do.call(case, c(list(args), fields, list(tol = 1e-8)))
}
afex_case("anova-within within.csv --response y --group a,b --pair id", aov_car(y ~ Error(id / (a * b)), within)$Anova)
afex_case("anova-within toothgrowth_id.csv --response len --group supp,dose --pair id", aov_car(len ~ Error(id / (supp * dose)), tg)$Anova)

# ---- variance components ---------------------------------------------------------------------------------
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-12))
for (d in list(list("nested.csv", nested), list("nested_unbalanced.csv", nested_u))) {
  v <- as.data.frame(VarCorr(lmer(y ~ 1 + (1 | program / layout), d[[2]], control = control)))
  case(paste("variance-components", d[[1]], "--response y --group program,layout"), rows.0.reml = v$vcov[v$grp == "program"],
       rows.1.reml = v$vcov[v$grp == "layout:program"], rows.2.reml = v$vcov[v$grp == "Residual"], tol = 1e-5)
}
ms <- summary(aov(y ~ program / layout, nested))[[1]]$`Mean Sq`
case("variance-components nested.csv --response y --group program,layout", rows.0.ems = (ms[1] - ms[2]) / 18, rows.1.ems = (ms[2] - ms[3]) / 3, rows.2.ems = ms[3], tol = 1e-9)

# ---- comparisons -----------------------------------------------------------------------------------------
tk <- TukeyHSD(aov(count ~ spray, InsectSprays))$spray
fields <- list(); for (i in seq_len(nrow(tk))) { fields[[paste0("rows.", i - 1, ".estimate")]] <- tk[i, 1]; fields[[paste0("rows.", i - 1, ".conf_low")]] <- approx(tk[i, 2], 1e-7); fields[[paste0("rows.", i - 1, ".conf_high")]] <- approx(tk[i, 3], 1e-7); fields[[paste0("rows.", i - 1, ".p_value")]] <- approx(tk[i, 4], -1e-8) }
do.call(case, c(list("tukey insectsprays.csv --response count --group spray"), fields))
# Dunnett by two nested integrals, not by mvtnorm's random points: P(max |T| > q).
dunnett_p <- function(q, lambda, df, two) {
  inner <- function(s) sapply(s, function(si) integrate(function(y) dnorm(y) * sapply(y, function(yi)
    prod(pnorm((lambda * yi + q * si) / sqrt(1 - lambda^2)) - if (two) pnorm((lambda * yi - q * si) / sqrt(1 - lambda^2)) else 0)), -Inf, Inf, rel.tol = 1e-11)$value)
  ds <- function(s) exp(log(2) + df / 2 * log(df / 2) - lgamma(df / 2) + (df - 1) * log(s) - df * s^2 / 2)
  1 - integrate(function(s) ds(s) * inner(s), 0, 3, rel.tol = 1e-11, subdivisions = 500)$value
}
n <- table(PlantGrowth$group); fit <- lm(weight ~ group, PlantGrowth); co <- summary(fit)$coefficients
lam <- sqrt(n[-1] / (n[-1] + n[1]))
case("dunnett plantgrowth.csv --response weight --group group --control ctrl", rows.0.estimate = co[2, 1], rows.0.statistic = co[2, 3],
     rows.0.p_value = approx(dunnett_p(abs(co[2, 3]), lam, 27, TRUE), 1e-8), rows.1.p_value = approx(dunnett_p(abs(co[3, 3]), lam, 27, TRUE), 1e-8))
case("dunnett plantgrowth.csv --response weight --group group --control ctrl --alternative greater",
     rows.0.p_value = approx(dunnett_p(co[2, 3], lam, 27, FALSE), 1e-8), rows.1.p_value = approx(dunnett_p(co[3, 3], lam, 27, FALSE), 1e-8))
unb <- PlantGrowth[-c(1, 2, 3, 12, 25), ]; data_file(unb, "plantgrowth_unbalanced")
fit <- lm(weight ~ group, unb); co <- summary(fit)$coefficients; n <- table(unb$group); lam <- sqrt(n[-1] / (n[-1] + n[1]))
case("dunnett plantgrowth_unbalanced.csv --response weight --group group",
     rows.0.p_value = approx(dunnett_p(abs(co[2, 3]), lam, 22, TRUE), 1e-8), rows.1.p_value = approx(dunnett_p(abs(co[3, 3]), lam, 22, TRUE), 1e-8))
case("holm pvalues.csv", adjusted = p.adjust(pvals$p, "holm")); case("bh pvalues.csv", adjusted = p.adjust(pvals$p, "BH")); case("bonferroni pvalues.csv", adjusted = p.adjust(pvals$p, "bonferroni"))

# ---- effect sizes ----------------------------------------------------------------------------------------
d <- with(normal, { a <- x[g == "a"]; b <- x[g == "b"]; sp <- sqrt(((length(a) - 1) * var(a) + (length(b) - 1) * var(b)) / 38); (mean(a) - mean(b)) / sp })
tt <- unname(t.test(x ~ g, normal, var.equal = TRUE)$statistic); sc <- sqrt(1 / 25 + 1 / 15)
ncp <- function(p) uniroot(function(n) pt(tt, 38, n) - p, c(tt - 8, tt + 8), tol = 1e-12)$root
J <- exp(lgamma(19) - 0.5 * log(19) - lgamma(18.5))
case("cohen-d normal.csv --response x --group g", estimate = d, hedges_g = d * J, conf_low = approx(ncp(0.975) * sc, 1e-7), conf_high = approx(ncp(0.025) * sc, 1e-7))
case("hedges-g normal.csv --response x --group g", estimate = d * J)
w <- t.test(log(time) ~ opt, times)
case("ratio times.csv --response time --group opt", estimate = exp(-diff(w$estimate)), conf_low = exp(w$conf.int[1]), conf_high = exp(w$conf.int[2]), p_value = w$p.value)

# ---- power -----------------------------------------------------------------------------------------------
p <- power.t.test(n = 20, delta = 1, sd = 1.3); case("power-t --n 20 --delta 1 --sd 1.3", power = approx(p$power, 1e-8))
p <- power.t.test(power = .9, delta = 1, tol = 1e-12); case("power-t --power 0.9 --delta 1", n = approx(p$n, 1e-7))
p <- power.t.test(power = .8, n = 15, sd = 2, type = "paired", tol = 1e-12); case("power-t --power 0.8 --n 15 --sd 2 --design paired", delta = approx(p$delta, 1e-7))
p <- power.t.test(power = .8, delta = .5, type = "one.sample", alternative = "one.sided", tol = 1e-12); case("power-t --power 0.8 --delta 0.5 --design one.sample --alternative one.sided", n = approx(p$n, 1e-7))
p <- power.t.test(n = 5, delta = .2, strict = TRUE); case("power-t --n 5 --delta 0.2 --strict", power = approx(p$power, 1e-8))
p <- power.anova.test(groups = 4, n = 5, between.var = 1, within.var = 3); case("power-anova --groups 4 --n 5 --between-var 1 --within-var 3", power = approx(p$power, 1e-8))
p <- power.anova.test(groups = 4, between.var = 1, within.var = 3, power = .80); case("power-anova --groups 4 --between-var 1 --within-var 3 --power 0.8", n = approx(p$n, 1e-4))
# Published: Jennison & Turnbull (2000), tables 2.1 and 2.3, two-sided alpha = 0.05, 5 looks.
case("alpha-spending --function classic-pocock --looks 5", rows.4.critical_value = approx(2.413, 3e-4))
case("alpha-spending --function classic-obrien-fleming --looks 5", rows.4.critical_value = approx(2.040, 3e-4), rows.0.critical_value = approx(4.562, 3e-4))
case("alpha-spending --function classic-pocock --looks 2", rows.0.critical_value = approx(2.178, 3e-4))
# ldbounds' documentation (Lan & DeMets O'Brien-Fleming, two-sided 0.05, 5 looks).
case("alpha-spending --looks 5", rows.0.critical_value = approx(4.8769, 1e-4), rows.1.critical_value = approx(3.3569, 1e-4),
     rows.2.critical_value = approx(2.6803, 1e-4), rows.3.critical_value = approx(2.2898, 1e-4), rows.4.critical_value = approx(2.0310, 1e-4))

# ---- effect sizes of an analysis of variance, resampling ---------------------------------------------------
# Partial eta and omega squared as Olejnik & Algina (2003) define them; R's packages for them wrap the same formulas.
a <- anova(lm(yield ~ block + N * P + K, npk)); mse <- tail(a$"Mean Sq", 1); sse <- tail(a$"Sum Sq", 1); terms <- seq_len(nrow(a) - 1)
effect <- list("anova npk.csv --response yield --group block,N,P,K --model block+N*P+K --type 1")
for (t in terms) {
  effect[[paste0("rows.", t - 1, ".partial_eta_squared")]] <- a$"Sum Sq"[t] / (a$"Sum Sq"[t] + sse)
  effect[[paste0("rows.", t - 1, ".partial_omega_squared")]] <- (a$"Sum Sq"[t] - a$Df[t] * mse) / (a$"Sum Sq"[t] + (nrow(npk) - a$Df[t]) * mse)
}
do.call(case, effect)
# Both sides draw: a hundred thousand resamples leave about 0.1 % of an interval's width.
b <- boot::boot(normal$x, function(d, i) mean(d[i]), R = 100000); ci <- boot::boot.ci(b, type = "bca")$bca[4:5]
case("bootstrap normal.csv --response x --resamples 100000", estimate = mean(normal$x), conf_low = approx(ci[1], 2e-3), conf_high = approx(ci[2], 2e-3))
b <- boot::boot(normal$x, function(d, i) sd(d[i]), R = 100000); ci <- boot::boot.ci(b, type = "bca")$bca[4:5]
case("bootstrap normal.csv --response x --statistic sd --resamples 100000", estimate = sd(normal$x), conf_low = approx(ci[1], 6e-3), conf_high = approx(ci[2], 6e-3))
case("permutation sleep.csv --response extra --group group --resamples 200000", p_value = pvalue(oneway_test(extra ~ group, sleep, distribution = exact(algorithm = "split-up"))))
# Within pairs: every one of the 1024 ways to swap them.
d <- sleep$extra[1:10] - sleep$extra[11:20]; swaps <- as.matrix(expand.grid(rep(list(c(-1, 1)), 10))) %*% d
case("permutation sleep.csv --response extra --group group --block ID", p_value = mean(abs(swaps) >= abs(sum(d)) - 1e-9))

# A layout's mean of r runs varies by layout + run / r: then it is power.t.test() on the layouts.
for (runs in c(1, 3)) case(paste("power-layouts --layout-sd 0.02 --run-sd 0.012 --delta 0.01 --runs", runs),
  layouts = ceiling(power.t.test(delta = 0.01, sd = sqrt(0.02^2 + 0.012^2 / runs), power = 0.8)$n))

# ---- proportions -----------------------------------------------------------------------------------------
for (v in list(c(3, 100, 0.05), c(0, 20, 0.05), c(20, 20, 0.9), c(43, 60, 0.5), c(5, 18, 0.3), c(487, 1000, 0.5), c(12, 1000, 0.05), c(7, 15, 0.49)))
  for (alternative in c("two.sided", "less", "greater")) {
    b <- binom.test(v[1], v[2], v[3], alternative = alternative)
    case(paste("binomial --successes", v[1], "--trials", v[2], "--p", v[3], "--alternative", alternative), estimate = b$estimate,
         p_value = b$p.value, conf_low = b$conf.int[1], conf_high = b$conf.int[2])
  }
b <- binom.test(3, 40, conf.level = 0.99); case("binomial --successes 3 --trials 40 --conf 0.99", conf_low = b$conf.int[1], conf_high = b$conf.int[2], p_value = b$p.value)

# ---- sequences -------------------------------------------------------------------------------------------
r <- acf(morley$Speed, plot = FALSE)$acf[2]; case("autocorrelation morley.csv --response speed", statistic = r)
s <- cor.test(morley$Speed, seq_along(morley$Speed), method = "spearman", exact = FALSE); case("drift morley.csv --response speed", statistic = s$estimate, p_value = s$p.value)
q <- qqnorm(small$x, plot.it = FALSE); case("qq three.csv", theoretical = sort(q$x), sample = sort(q$y))
close(out)

# ---- distributions ---------------------------------------------------------------------------------------
# Two nested adaptive integrals. R's own ptukey is off by up to 8e-5 at df = 2 (for two means Q = sqrt(2) |T| gives the exact
# value: P(Q > 2) = 1 - sqrt(1/2) = 0.29289321881345 at df 2, ptukey says 0.29286720), and by 1e-7 at df = 3.
range_upper <- function(w, k) integrate(function(z) k * dnorm(z) * (pnorm(z, lower.tail = FALSE)^(k - 1) -
  (pnorm(z, lower.tail = FALSE) - pnorm(z + w, lower.tail = FALSE))^(k - 1)), -w / 2 - 9, 9, rel.tol = 1e-12, subdivisions = 1000)$value
tukey_upper <- function(q, k, df) {
  density <- function(s) exp(log(2) + df / 2 * log(df / 2) - lgamma(df / 2) + (df - 1) * log(s) - df * s^2 / 2)
  f <- function(s) density(s) * sapply(s, function(si) range_upper(q * si, k))
  m <- 1 + 8 / sqrt(2 * df)
  integrate(f, 0, 1, rel.tol = 1e-11, subdivisions = 1000)$value + integrate(f, 1, min(m, 7), rel.tol = 1e-11, subdivisions = 1000)$value
}
out <- file("studentized.txt", "w")
cat("# P(Q > q) of the studentized range by nested integration in", R.version.string, ": q means df upper\n", file = out)
worst <- 0
for (k in c(2, 3, 5, 10, 20)) for (df in c(2, 3, 5, 10, 30, 120, 1000)) for (q in c(0.5, 1, 2, 3, 4, 6)) {
  upper <- tukey_upper(q, k, df)
  if (df >= 10) worst <- max(worst, abs(upper - ptukey(q, k, df, lower.tail = FALSE)))
  cat(q, k, df, num(upper), "\n", file = out)
}
cat("# largest difference from ptukey at df >= 10:", num(worst), "\n", file = out)
close(out)
