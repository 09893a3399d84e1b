"""Results to pages: one self-contained HTML file, in which nothing is computed or fetched."""

from icsa.report.page import Section, study_page

__all__ = ["Section", "study_page"]
