"""Attacks on releases: what somebody who is not meant to learn about people can learn from one.

`run_attacks` tries attacks on tables (`ATTACKS`): each gives how often it is right, beside the same
attack on people who are not in the table. Below them are functions of matrices, one attack a
module, each with a frozen result; none is told the truth that it looks for.
"""

from __future__ import annotations

from icsa.attacks.differencing import Learnt, last_row_from_means, learn_last_score
from icsa.attacks.digits import TableFromDigits, table_from_digits
from icsa.attacks.insiders import MapFromInsiders, map_from_insiders
from icsa.attacks.maps import same_directions, scores_present
from icsa.attacks.membership import Membership, membership_with_map
from icsa.attacks.protocol import AttackKind, AttackResult, Counts, Tally, Targets
from icsa.attacks.reassembly import Reassembly, reassemble
from icsa.attacks.registry import ATTACKS, run_attacks
from icsa.attacks.tallies import difference_of, pooled
from icsa.attacks.two_releases import MapFromReleases, map_from_flips, map_from_releases

__all__ = [
    "ATTACKS",
    "AttackKind",
    "AttackResult",
    "Counts",
    "Learnt",
    "MapFromInsiders",
    "MapFromReleases",
    "Membership",
    "Reassembly",
    "TableFromDigits",
    "Tally",
    "Targets",
    "difference_of",
    "last_row_from_means",
    "learn_last_score",
    "map_from_flips",
    "map_from_insiders",
    "map_from_releases",
    "membership_with_map",
    "pooled",
    "reassemble",
    "run_attacks",
    "same_directions",
    "scores_present",
    "table_from_digits",
]
