# Writes data/mixed_report.csv, trials as 'stabctl report --csv' exports them, and mixed_report.txt: what lme4, lmerTest and pbkrtest
# say of them. analysis_report_test compares the contrasts of the declared estimator "mixed" with it.
#
#   cd tests/reference/analysis && Rscript generate_mixed_report.R
suppressMessages({library(lme4); library(lmerTest); library(pbkrtest)})
options(digits = 17, warn = -1)
set.seed(2311)
# Six programs, three levels of one treatment, code as linked: five links crossed with twelve blocks. A tenth of the trials failed.
d <- expand.grid(opt = 0:2, block = 0:11, program = 0:5)
d$link <- 1 + (d$block + 2 * d$opt) %% 5
r <- function(key, s) { f <- factor(key); rnorm(nlevels(f), 0, s)[f] }
d$wall_time <- 0.4 * exp(c(0, 0.02, -0.01)[d$opt + 1] + r(d$program, 0.4) + r(paste(d$program, d$opt), 0.012) +
  r(paste(d$program, d$opt, d$link), 0.015) + r(paste(d$program, d$block), 0.01) + rnorm(nrow(d), 0, 0.008))
d <- d[sort(sample(nrow(d), round(0.9 * nrow(d)))), ]
d$wall_time <- as.numeric(sprintf("%.9f", d$wall_time))
d <- d[c("program", "opt", "block", "link", "wall_time")]
write.csv(d, "data/mixed_report.csv", row.names = FALSE, quote = FALSE)

out <- file("mixed_report.txt", "w")
cat("# made by generate_mixed_report.R with", R.version.string, "lme4", as.character(packageVersion("lme4")), "lmerTest",
    as.character(packageVersion("lmerTest")), "pbkrtest", as.character(packageVersion("pbkrtest")), "\n", file = out)
control <- lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 100000), calc.derivs = FALSE)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
of <- function(name, formula, x) {
  x$opt <- factor(x$opt); x$y <- log(x$wall_time)
  m <- lmer(formula, x, control = control)
  s <- summary(m, ddf = "Kenward-Roger")$coefficients
  for (i in 2:3) cat(name, i - 1, num(s[i, 1:3]), num(s[i, 5]), "\n", file = out)
  v <- as.data.frame(VarCorr(m))
  cat(name, "variances", paste(v$grp, num(v$vcov)), "\n", file = out)
}
of("programs", y ~ opt + (1 | program) + (1 | program:opt) + (1 | program:opt:link) + (1 | program:block), d)
of("one", y ~ opt + (1 | opt:link) + (1 | block), d[d$program == 3, ])
close(out)
