"""Attacks on releases: what somebody who is not meant to learn about people can learn from one.

One attack a module, each a function of matrices with a frozen result. None is told the truth that
it looks for; how far it got is measured by the caller, beside the same attack on people who are not
in the table.
"""

from __future__ import annotations

from icsa.attacks.differencing import Learnt, last_row_from_means, learn_last_score
from icsa.attacks.digits import TableFromDigits, table_from_digits
from icsa.attacks.insiders import MapFromInsiders, map_from_insiders
from icsa.attacks.maps import same_directions, scores_present
from icsa.attacks.membership import Membership, membership_with_map
from icsa.attacks.reassembly import Reassembly, reassemble
from icsa.attacks.two_releases import MapFromReleases, map_from_flips, map_from_releases

__all__ = [
    "Learnt",
    "MapFromInsiders",
    "MapFromReleases",
    "Membership",
    "Reassembly",
    "TableFromDigits",
    "last_row_from_means",
    "learn_last_score",
    "map_from_flips",
    "map_from_insiders",
    "map_from_releases",
    "membership_with_map",
    "reassemble",
    "same_directions",
    "scores_present",
    "table_from_digits",
]
