"""Studies: a frozen config becomes independent jobs, their results tables and figures.

For a study ``name`` the command line calls ``NameConfig(**options)`` and ``name_study(config)`` of
``icsa.studies.name``, which give its `icsa.jobs.Work`, and ``write_results(study, out)`` of
``icsa.studies.name_results``, which makes tables, figures and the report from the parts in the
folder `out`.
"""

from __future__ import annotations

__all__: list[str] = []
