"""Assessment: one word for a release, why, person by person, and what analyses lose."""

from __future__ import annotations

from icsa.assessment.assessing import Assessment, assess, assessment_cost, making_of
from icsa.assessment.attackers import Attacks, attack
from icsa.assessment.document import Edition
from icsa.assessment.policy_files import policy_text, read_policy

__all__ = [
    "Assessment",
    "Attacks",
    "Edition",
    "assess",
    "assessment_cost",
    "attack",
    "making_of",
    "policy_text",
    "read_policy",
]
