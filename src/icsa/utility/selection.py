"""How well the variables selected on a release agree with those selected on the original.

All functions take two boolean vectors, one cell a variable: the reference (selected on the
original) and the selection (on the release). With A and B the sets where they are True:

=====================  ==========================  =========================================
metric                 formula                     not estimable when
=====================  ==========================  =========================================
`recall`               |A and B| / |A|             the reference selects nothing
`precision`            |A and B| / |B|             nothing is selected
`jaccard`              |A and B| / |A or B|        neither selects anything
`false_positive_rate`  |B without A| / |not A|     the reference selects every variable
=====================  ==========================  =========================================

An empty selection against a reference that selects something has recall 0 and Jaccard 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from icsa.errors import InputError
from icsa.measures import Estimate, NotEstimable

__all__ = ["SELECTION_METRICS", "false_positive_rate", "jaccard", "precision", "recall"]


def recall(reference: object, selected: object) -> Estimate:
    """Return the share of the reference's variables that are selected; higher is better.

    Examples
    --------
    The reference has variables 0, 1 and 2; of these 0 and 1 are selected: 2/3.

    >>> round(recall([True, True, True, False], [True, True, False, True]), 3)
    0.667
    """
    wanted, found = _checked(reference, selected)
    size = np.count_nonzero(wanted)
    if size == 0:
        return NotEstimable("the reference selects nothing")
    return float(np.count_nonzero(wanted & found) / size)


def precision(reference: object, selected: object) -> Estimate:
    """Return the share of the selected variables that are the reference's; higher is better.

    Examples
    --------
    Variables 1 and 3 are selected; of these the reference has 1: 1/2.

    >>> precision([True, True, True, False], [False, True, False, True])
    0.5
    >>> print(precision([True, True, True, False], [False, False, False, False]))
    not estimable: nothing is selected
    """
    wanted, found = _checked(reference, selected)
    size = np.count_nonzero(found)
    if size == 0:
        return NotEstimable("nothing is selected")
    return float(np.count_nonzero(wanted & found) / size)


def jaccard(reference: object, selected: object) -> Estimate:
    """Return the share of the variables in either set that are in both; higher is better.

    Examples
    --------
    Either set has variables 0 to 3, both have 1: 1/4.

    >>> jaccard([True, True, True, False], [False, True, False, True])
    0.25
    """
    wanted, found = _checked(reference, selected)
    size = np.count_nonzero(wanted | found)
    if size == 0:
        return NotEstimable("neither the reference nor the selection has a variable")
    return float(np.count_nonzero(wanted & found) / size)


def false_positive_rate(reference: object, selected: object) -> Estimate:
    """Return the share of the variables outside the reference that are selected; lower is better.

    Examples
    --------
    Variables 2 and 3 are not the reference's; of these 3 is selected: 1/2.

    >>> false_positive_rate([True, True, False, False], [False, True, False, True])
    0.5
    >>> print(false_positive_rate([True, True, True, True], [False, True, False, True]))
    not estimable: the reference selects every variable
    """
    wanted, found = _checked(reference, selected)
    outside = wanted.size - np.count_nonzero(wanted)
    if outside == 0:
        return NotEstimable("the reference selects every variable")
    return float(np.count_nonzero(found & ~wanted) / outside)


def _checked(
    reference: object, selected: object
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    wanted, found = np.asarray(reference), np.asarray(selected)
    if wanted.dtype != np.bool_ or found.dtype != np.bool_:
        raise InputError(
            "Selections are vectors of True and False. For coefficients use coefficients != 0."
        )
    if wanted.ndim != 1 or wanted.shape != found.shape or wanted.size == 0:
        raise InputError(
            "Selections must be two vectors over the same variables: "
            f"got shapes {wanted.shape} and {found.shape}."
        )
    return wanted, found


# Each by its short name, as studies and assessments list them.
SELECTION_METRICS: Mapping[str, Callable[[object, object], Estimate]] = MappingProxyType(
    {"recall": recall, "precision": precision, "jaccard": jaccard, "fpr": false_positive_rate}
)
