"""An assessment as a page: one self-contained HTML file; nothing is computed or fetched in it."""

from icsa.report.assessment_page import assessment_html, write_assessment_report

__all__ = ["assessment_html", "write_assessment_report"]
