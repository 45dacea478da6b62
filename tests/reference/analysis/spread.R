# Fisher's interval of a ratio of standard deviations: tests/unit/analysis/layout_verification_test.cc.
#   Rscript tests/reference/analysis/spread.R
v <- var.test(c(1.2, 0.7, 1.9, 1.4, 0.2), c(2.1, 4.4, 0.3, 5.0, 2.2, 3.9))
cat(sprintf("%.15g\n", sqrt(c(v$estimate, v$conf.int))), sep = "")
