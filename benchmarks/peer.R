# robustbase as a server: commands on standard input, one answer line each; fields are separated by tabs.
#   versions                      -> R's and robustbase's version
#   data   PATH  N  P             -> reads an N x P table of doubles, columns first
#   mcd    ALPHA  CALLS  PATH     -> seconds elapsed and CPU seconds a call; writes the rows of the best subset
#   fit    ALPHA  SEED  PATH      -> covMcd after that seed; writes its centre, then its scatter
suppressPackageStartupMessages(library(robustbase))

x <- NULL

answer <- function(...) {
  cat(..., sep = "\t")
  cat("\n")
  flush(stdout())
}

load_table <- function(path, n, p) {
  x <<- matrix(readBin(path, "double", n * p), n, p)
  answer("ok")
}

time_mcd <- function(alpha, calls, path) {
  set.seed(1)
  invisible(gc()) # outside the clock
  elapsed <- Sys.time()
  cpu <- proc.time()
  for (i in seq_len(calls)) fit <- suppressWarnings(covMcd(x, alpha = alpha))
  seconds <- as.numeric(difftime(Sys.time(), elapsed, units = "secs"))
  used <- proc.time() - cpu
  writeBin(as.integer(fit$best) - 1L, path)
  answer(seconds / calls, (used[["user.self"]] + used[["sys.self"]]) / calls)
}

fit_mcd <- function(alpha, seed, path) {
  set.seed(seed)
  fit <- suppressWarnings(covMcd(x, alpha = alpha))
  writeBin(as.numeric(c(fit$center, fit$cov)), path)
  answer("ok")
}

obey <- function(words) {
  switch(words[1],
    versions = answer(as.character(getRversion()), as.character(packageVersion("robustbase"))),
    data = load_table(words[2], as.integer(words[3]), as.integer(words[4])),
    mcd = time_mcd(as.numeric(words[2]), as.integer(words[3]), words[4]),
    fit = fit_mcd(as.numeric(words[2]), as.integer(words[3]), words[4]),
    stop("unknown command ", words[1])
  )
}

options(digits = 15)
input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1))) {
  tryCatch(obey(strsplit(line, "\t")[[1]]), error = function(e) answer("error", conditionMessage(e)))
}
