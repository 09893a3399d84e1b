# glmnet as a server: commands on standard input, one answer line each; fields are separated by tabs.
#   versions                    -> R's and glmnet's version
#   data   PATH  N  P           -> reads an N x P table of doubles, columns first; the response is the last column
#   folds  PATH                 -> reads the fold of every row, from 0, as integers
#   lasso  CALLS  PATH          -> seconds elapsed and CPU seconds a call; writes the coefficients, the intercept first
suppressPackageStartupMessages(library(glmnet))

x <- y <- folds <- NULL

answer <- function(...) {
  cat(..., sep = "\t")
  cat("\n")
  flush(stdout())
}

load_table <- function(path, n, p) {
  whole <- matrix(readBin(path, "double", n * p), n, p)
  x <<- whole[, -p]
  y <<- whole[, p]
  answer("ok")
}

load_folds <- function(path) {
  folds <<- readBin(path, "integer", length(y)) + 1L
  answer("ok")
}

time_lasso <- function(calls, path) {
  invisible(gc()) # outside the clock
  elapsed <- Sys.time()
  cpu <- proc.time()
  for (i in seq_len(calls)) fit <- cv.glmnet(x, y, foldid = folds)
  seconds <- as.numeric(difftime(Sys.time(), elapsed, units = "secs"))
  used <- proc.time() - cpu
  writeBin(as.numeric(coef(fit, s = "lambda.min")), path)
  answer(seconds / calls, (used[["user.self"]] + used[["sys.self"]]) / calls)
}

obey <- function(words) {
  switch(words[1],
    versions = answer(as.character(getRversion()), as.character(packageVersion("glmnet"))),
    data = load_table(words[2], as.integer(words[3]), as.integer(words[4])),
    folds = load_folds(words[2]),
    lasso = time_lasso(as.integer(words[2]), words[3]),
    stop("unknown command ", words[1])
  )
}

options(digits = 15)
input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1))) {
  tryCatch(obey(strsplit(line, "\t")[[1]]), error = function(e) answer("error", conditionMessage(e)))
}
