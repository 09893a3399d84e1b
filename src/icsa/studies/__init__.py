"""Studies: a frozen config becomes independent jobs, their results tables and figures.

`run_study` computes what is missing in a folder, `read_parts` reads it. For a study ``name`` the
command line calls ``NameConfig(**options)`` and ``name_study(config)`` of ``icsa.studies.name``,
which give its `Study`, and ``write_results(study, out)`` of ``icsa.studies.name_results``, which
makes tables, figures and the report from the parts in the folder `out`.
"""

from __future__ import annotations

from icsa.studies.engine import read_parts, run_study
from icsa.studies.jobs import Job, Study, config_text

__all__ = ["Job", "Study", "config_text", "read_parts", "run_study"]
