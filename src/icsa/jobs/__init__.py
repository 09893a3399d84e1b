"""Jobs that can be computed on their own: in this process, in others, or on a Dask cluster.

`run` computes `Work`, a frozen config and the jobs that it becomes. With a folder it keeps what is
finished and goes on where it stopped; `read_parts` reads such a folder. Studies, comparisons and
large tables are computed by it.
"""

from __future__ import annotations

from icsa.jobs.engine import read_parts, run
from icsa.jobs.progress import Pace, shown_progress, spoken
from icsa.jobs.work import Job, Work, columns_of, config_text
from icsa.jobs.workers import end_processes

__all__ = [
    "Job",
    "Pace",
    "Work",
    "columns_of",
    "config_text",
    "end_processes",
    "read_parts",
    "run",
    "shown_progress",
    "spoken",
]
