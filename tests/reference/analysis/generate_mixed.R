# Writes data/mixed*.csv and cases_mixed.txt, of the form of cases.txt (see generate.R): mixed models by lme4, their degrees of
# freedom by lmerTest (Satterthwaite) and pbkrtest (Kenward and Roger).
#
#   cd tests/reference/analysis && Rscript generate_mixed.R
suppressMessages({library(lme4); library(lmerTest); library(pbkrtest)})
options(digits = 17, warn = -1)
num <- function(x) formatC(as.numeric(x), digits = 17, format = "g")
out <- file("cases_mixed.txt", "w")
cat("# made by generate_mixed.R with", R.version.string, "lme4", as.character(packageVersion("lme4")), "lmerTest",
    as.character(packageVersion("lmerTest")), "pbkrtest", as.character(packageVersion("pbkrtest")), "\n", file = out)
case <- function(args, fields, tol) {
  cat("case:", args, "\n", file = out)
  # A p far out moves a hundred times as much as the degrees of freedom that it is taken from.
  for (name in names(fields)) cat(name, if (grepl("p_value", name)) 100 * tol else if (grepl("df$|conf", name)) 10 * tol else tol, num(unname(fields[[name]])), "\n", file = out)
}

set.seed(23)
# Programs, machines and links crossed, treatment by program; balanced.
d <- expand.grid(build = c("new", "old"), program = paste0("p", 1:6), machine = paste0("m", 1:4), link = paste0("l", 1:5))
r <- function(f, s) { u <- rnorm(nlevels(f), 0, s); u[f] }
d[] <- lapply(d, factor)
d$y <- 10 + 0.02 * (d$build == "new") + r(d$program, 0.3) + r(d$machine, 0.1) + r(d$link, 0.05) +
  r(interaction(d$program, d$build), 0.03) + rnorm(nrow(d), 0, 0.05)
# The same with half of the rows gone, unequal.
u <- d[sample(nrow(d), 130), ]
# Few levels, and nothing between machines: singular.
s <- expand.grid(build = c("a", "b", "c"), machine = paste0("m", 1:3), run = 1:6)
s[] <- lapply(s, factor)
s$y <- rnorm(nrow(s)) + 0.5 * (s$build == "b")
m <- ave(s$y, s$machine); s$y <- s$y - m + mean(s$y)
for (x in list(list("mixed", d), list("mixed_unequal", u), list("mixed_singular", s))) {
  x[[2]]$y <- as.numeric(sprintf("%.9f", x[[2]]$y))
  write.csv(x[[2]], paste0("data/", x[[1]], ".csv"), row.names = FALSE, quote = FALSE)
}
control <- lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 100000), calc.derivs = FALSE,
                       check.conv.singular = "ignore")
run <- function(name, formula, args, tol) {
  x <- read.csv(paste0("data/", name, ".csv"), stringsAsFactors = TRUE)
  m <- lmer(formula, x, control = control)
  v <- as.data.frame(VarCorr(m))
  wanted <- strsplit(sub(".*--random ([^ ]*).*", "\\1", args), ",")[[1]]
  fields <- list(reml_criterion = REMLcrit(m))
  for (i in seq_along(wanted)) fields[[sprintf("components.%d.variance", i - 1)]] <- zapsmall(c(1, v$vcov[v$grp == wanted[i]]), 12)[2]
  fields[[sprintf("components.%d.variance", length(wanted))]] <- sigma(m)^2
  for (ddf in c("Satterthwaite", "Kenward-Roger")) {
    s <- coef(summary(m, ddf = ddf))
    f <- if (ddf == "Satterthwaite") fields else list()
    for (i in seq_len(nrow(s))) {
      at <- function(what) sprintf("rows.%d.%s", i - 1, what)
      f[[at("estimate")]] <- s[i, "Estimate"]; f[[at("standard_error")]] <- s[i, "Std. Error"]; f[[at("df")]] <- s[i, "df"]
      # R prints p from its own df.
      f[[at("statistic")]] <- s[i, "t value"]; f[[at("p_value")]] <- s[i, "Pr(>|t|)"]
      f[[at("conf_low")]] <- s[i, "Estimate"] - qt(0.975, s[i, "df"]) * s[i, "Std. Error"]
    }
    case(paste("mixed", paste0(name, ".csv"), "--response y", args, "--ddf", tolower(ddf)), f, tol)
  }
}
run("mixed", y ~ build + (1 | program) + (1 | machine) + (1 | link) + (1 | program:build), "--group build --random program,machine,link,program:build", 1e-4)
run("mixed", y ~ 1 + (1 | program) + (1 | machine), "--random program,machine", 1e-4)
run("mixed_unequal", y ~ build + (1 | program) + (1 | machine) + (1 | link), "--group build --random program,machine,link", 1e-4)
run("mixed_unequal", y ~ build + (1 | program) + (1 | program:machine), "--group build --random program,program:machine", 1e-4)
run("mixed_unequal", y ~ build + machine + (1 | program) + (1 | link), "--group build,machine --random program,link", 1e-4)
run("mixed_singular", y ~ build + (1 | machine), "--group build --random machine", 1e-4)
# Plates crossed with samples, of the documentation of lme4.
data(Penicillin, package = "lme4"); names(Penicillin)[1] <- "y"
write.csv(Penicillin, "data/penicillin.csv", row.names = FALSE, quote = FALSE)
run("penicillin", y ~ 1 + (1 | plate) + (1 | sample), "--random plate,sample", 1e-4)
close(out)
