# The bias of slicing: the mean difference of sliced blocks less that of blocks alone, by R itself. Base R alone:
#   Rscript slicing.R > slicing.txt
# A case is a line "case NAME", its rows "row FIRST SECOND ALONE", a block each, and "value KEY NUMBER".
options(digits = 17)
set.seed(20261125)
say <- function(key, test) {
  estimate <- if (length(test$estimate) == 2) -diff(test$estimate) else test$estimate
  numbers <- c(estimate, test$conf.int, test$parameter, test$p.value)
  names <- paste0(key, c("", "_low", "_high", "_df", "_p"))
  for (i in 1:5) cat("value", names[i], sprintf("%.17g", numbers[i]), "\n")
}
one <- function(name, sliced, alone, sd_sliced, sd_alone, bias) {
  cat("case", name, "\n")
  kind <- sample(rep(0:1, c(sliced, alone)))
  first <- round(rnorm(sliced + alone, 50, 8), 6)
  second <- round(first + 1 + ifelse(kind == 0, bias + rnorm(sliced + alone, 0, sd_sliced), rnorm(sliced + alone, 0, sd_alone)), 6)
  for (i in seq_along(kind)) cat("row", sprintf("%.17g", first[i]), sprintf("%.17g", second[i]), kind[i], "\n")
  difference <- second - first
  say("sliced", t.test(difference[kind == 0]))
  say("alone", t.test(difference[kind == 1]))
  # Welch's test but for the degrees of freedom, which are those of the kind that has fewer.
  welch <- t.test(difference[kind == 0], difference[kind == 1])
  df <- min(sliced, alone) - 1
  welch$conf.int <- -diff(welch$estimate) + c(-1, 1) * qt(0.975, df) * welch$stderr
  welch$parameter <- df
  welch$p.value <- 2 * pt(-abs(welch$statistic), df)
  say("bias", welch)
}
one("two alone", 18, 2, 0.1, 2, 0)
one("one in ten alone", 45, 5, 0.1, 1.5, 0.3)
one("half alone, and quieter", 12, 12, 1, 0.2, 0)
one("biased", 60, 20, 0.1, 0.8, 3)
