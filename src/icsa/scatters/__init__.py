"""Locations and scatters."""
