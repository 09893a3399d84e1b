"""Anonymize tables about people in which some stand out."""
