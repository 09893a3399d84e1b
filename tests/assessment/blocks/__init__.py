"""Assessments of tables that do not fit in memory."""
