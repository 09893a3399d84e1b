"""Words for what analyses lose: which values are good, and the glossary's entries."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from icsa.assessment.privacy_words import Term

__all__ = ["UTILITY_GOOD", "UTILITY_TERMS"]

GOOD_LOW = "lower is better"
GOOD_HIGH = "higher is better"
_AS_A_SAMPLE = "near what resamples of the original have"

# Which values are good, as a table says it in few words, by the glossary's entry.
UTILITY_GOOD: Mapping[str, str] = MappingProxyType(
    {
        "pmse": "0",
        "s_pmse": "about 1",
        "accuracy": "as from the original",
        "auc": "as from the original",
        **dict.fromkeys(
            ("adjusted_rand", "recall", "fpr", "precision", "jaccard", "coefficient_distance"),
            _AS_A_SAMPLE,
        ),
        "efficiency": "above 1",
    }
)

UTILITY_TERMS: Mapping[str, Term] = {
    "mean": Term(
        "mean and SD", "The average, and the standard deviation: the usual distance to it."
    ),
    "quantiles": Term(
        "quantiles",
        "The values below which 5, 25, 50, 75 and 95% of the cells lie. In the strips: the line "
        "runs from 5 to 95%, the box from 25 to 75%, the mark is the median.",
    ),
    "ks": Term(
        "KS distance",
        "How much the distribution of a number changed.",
        "largest difference between the two tables' shares of cells up to a value",
        GOOD_LOW,
        "not above what chance gives",
        ("Kolmogorov-Smirnov statistic", "KS complement is 1 − KS"),
    ),
    "tv": Term(
        "TV distance",
        "How much the shares of a column's categories changed.",
        "half the sum of the absolute differences of the shares",
        GOOD_LOW,
        "not above what chance gives",
        ("total variation distance", "TV complement is 1 − TV"),
    ),
    "pairs": Term(
        "association of two columns",
        "How strongly two columns go together: Pearson's or Spearman's correlation for two "
        "numbers, Cramér's V for two categories, the correlation ratio for one of each. The "
        "difference is released minus original.",
        "association in the release − association in the original",
        "nearer to 0 is better",
        "within what chance gives",
        ("correlation similarity", "contingency similarity"),
    ),
    "curve": Term(
        "curve",
        "The effect of the square of a column, or of the product of two, on another column beyond "
        "straight lines: a straight line cannot tell it, and models with squares and interactions "
        "need it.",
        "correlation of what straight lines in the factors leave of the column and of the term",
        "",
        "as in the original, within what chance gives",
    ),
    "pmse": Term(
        "pMSE",
        "How well a model tells released rows from original ones, by its guessed probabilities.",
        "mean of (guessed probability − share of released rows)²",
        GOOD_LOW,
        "near what a release from the same distribution gives",
        ("propensity score mean-squared error",),
    ),
    "s_pmse": Term(
        "S_pMSE",
        "pMSE in units of what it would be for a release from the original's own distribution.",
        "pMSE ÷ its expectation",
        GOOD_LOW,
        "about 1; below 10 is usually called good",
        ("standardized pMSE", "pMSE ratio"),
    ),
    "coefficient": Term(
        "coefficient",
        "What a model says one column does to the outcome, the others held fixed; with its 95% "
        "interval, fitted once to the original and once to the release.",
    ),
    "overlap": Term(
        "interval overlap",
        "How much the two intervals of a coefficient have in common.",
        "mean of (common length ÷ length of each interval)",
        GOOD_HIGH,
        "near 1; 0 or below: no overlap",
        ("confidence interval overlap (IO)",),
    ),
    "error_in_se": Term(
        "error in standard errors",
        "How far the release moved a coefficient, in units of its own uncertainty.",
        "|released − original| ÷ the original's standard error",
        GOOD_LOW,
        "below 1",
        ("standardized difference",),
    ),
    "flips": Term(
        "flips",
        "Conclusions that change: a coefficient's sign, or whether it differs significantly from "
        "0.",
        good="none",
    ),
    "components": Term(
        "principal components",
        "The two directions in which the original varies most; both tables are drawn in them. The "
        "percentage is the share of the variation.",
        also=("PCA",),
    ),
    "task": Term(
        "task",
        "Something learnt from the release and tried on the original, against the same learnt "
        "from the original.",
    ),
    "accuracy": Term(
        "accuracy",
        "A column is predicted from all others for original rows that were held out. Learnt from "
        "the release, then from the original's other rows; beside both stands what guessing the "
        "most frequent level gives. The release was made from all rows, the held-out ones too.",
        "share of held-out rows whose level is predicted rightly",
        GOOD_HIGH,
        "within chance of what is learnt from the original",
        ("train on synthetic, test on real (TSTR)", "machine learning efficacy"),
    ),
    "auc": Term(
        "area under the curve (AUC)",
        "How well predicted probabilities rank the held-out rows: 1 for perfectly, one half for "
        "no better than a coin. With several levels the mean over levels, each against the rest.",
        "chance that a row with the level gets a higher probability than one without",
        GOOD_HIGH,
        "within chance of what is learnt from the original",
        ("AUROC", "c statistic"),
    ),
    "adjusted_rand": Term(
        "adjusted Rand index",
        "Groups (k-means) are found in the original and in the release; every original row goes to "
        "the nearest of each. Do the two groupings agree? 1: they are the same; 0: as by chance.",
        "share of pairs of rows on which both agree, corrected for chance",
        GOOD_HIGH,
        _AS_A_SAMPLE,
        ("ARI",),
    ),
    "lasso": Term(
        "variables selected by the lasso",
        "The lasso is a regression that leaves out columns that do not help to predict; how strict "
        "it is, is found by ten-fold cross-validation. A category is selected when one of its "
        "levels is. Rows with a missing cell are left out. What is selected on the original is the "
        "reference; resamples of the original show how much a selection varies by itself.",
    ),
    "recall": Term(
        "recall",
        "Of the columns selected on the original, how many are selected on the release too.",
        "selected on both ÷ selected on the original",
        GOOD_HIGH,
        _AS_A_SAMPLE,
        ("sensitivity", "true positive rate"),
    ),
    "fpr": Term(
        "false positive rate",
        "Of the columns not selected on the original, how many are selected on the release.",
        "selected on the release only ÷ not selected on the original",
        GOOD_LOW,
        _AS_A_SAMPLE,
        ("FPR", "1 − specificity"),
    ),
    "precision": Term(
        "precision",
        "Of the columns selected on the release, how many are selected on the original.",
        "selected on both ÷ selected on the release",
        GOOD_HIGH,
        _AS_A_SAMPLE,
        ("positive predictive value",),
    ),
    "jaccard": Term(
        "Jaccard index",
        "Of the columns selected on either table, how many are selected on both.",
        "selected on both ÷ selected on at least one",
        GOOD_HIGH,
        _AS_A_SAMPLE,
    ),
    "coefficient_distance": Term(
        "distance of coefficients",
        "How far the lasso's coefficients on the release are from those on the original, all "
        "columns in units of the original's standard deviation.",
        "root of the sum of squared differences",
        GOOD_LOW,
        _AS_A_SAMPLE,
    ),
    "efficiency": Term(
        "relative privacy efficiency (RPE)",
        "Privacy for utility: the outlier replication error of a release for each unit of what is "
        "lost. The ratio says how many times as efficient this release is as the other one: above "
        "1 favours this release, below 1 the other. It is given in two forms, because the "
        "published definition has a square root and the published table has none.",
        "as defined: root of (error ÷ the other's error) × (the other's loss ÷ loss); as printed: "
        "the same without the root",
        GOOD_HIGH,
        "above 1",
        ("RPE",),
    ),
}
