"""The models of scikit-learn that measures of utility use: the one home of that library here."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from icsa.comparison.column_pairs import Codes
from icsa.matrices import Matrix, Vector

__all__ = ["Classifier", "class_probabilities", "cluster_centres", "tree_probabilities"]

Classifier: TypeAlias = Literal["forest", "logistic"]


def tree_probabilities(x: Matrix, labels: Vector, new: Matrix) -> Vector:
    """Return the probability of label 1 for new rows, from a tree with leaves of 1% of the rows.

    Examples
    --------
    >>> x = np.arange(100.0)[:, None]
    >>> tree_probabilities(x, (x[:, 0] >= 50.0) + 0.0, np.array([[3.0], [97.0]]))
    array([0., 1.])
    """
    from sklearn.tree import DecisionTreeClassifier

    leaf = max(20, x.shape[0] // 100)
    tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(x, labels)
    return _probabilities(tree, new, 2)[:, 1]


def class_probabilities(
    model: Classifier, x: Matrix, codes: Codes, new: Matrix, n_classes: int
) -> Matrix:
    """Return the probability of every class for new rows, shape (n_new, n_classes).

    A class that no row of `codes` has gets 0.

    Examples
    --------
    >>> x = np.repeat([0.0, 1.0], 50)[:, None]
    >>> codes = np.repeat([0, 2], 50)
    >>> class_probabilities("forest", x, codes, np.array([[1.0]]), 3)
    array([[0., 0., 1.]])
    """
    if model == "forest":
        from sklearn.ensemble import RandomForestClassifier

        leaf = max(1, x.shape[0] // 1000)
        learner: Any = RandomForestClassifier(100, min_samples_leaf=leaf, random_state=0, n_jobs=1)
    else:
        from sklearn.linear_model import LogisticRegression

        learner = LogisticRegression(max_iter=1000)
    if np.unique(codes).size == 1:
        certain: Matrix = np.eye(n_classes)[np.full(new.shape[0], codes[0])]
        return certain
    return _probabilities(learner.fit(x, codes), new, n_classes)


def cluster_centres(x: Matrix, n_clusters: int, *, seed: int = 0) -> Matrix:
    """Return the centres of k-means, the best of ten starts, shape (n_clusters, n_features).

    Examples
    --------
    >>> sorted(cluster_centres(np.array([[0.0], [2.0], [10.0], [12.0]]), 2)[:, 0].tolist())
    [1.0, 11.0]
    """
    from sklearn.cluster import KMeans

    # one thread: small tables lose more by waiting for each other than they gain
    with threadpool_limits(1):
        fitted = KMeans(n_clusters, n_init=10, random_state=seed).fit(x)
    return np.asarray(fitted.cluster_centers_, dtype=np.float64)


def _probabilities(fitted: Any, new: Matrix, n_classes: int) -> Matrix:
    found = np.asarray(fitted.predict_proba(new), dtype=np.float64)
    probabilities = np.zeros((new.shape[0], n_classes))
    probabilities[:, np.asarray(fitted.classes_, dtype=np.int64)] = found
    return probabilities
