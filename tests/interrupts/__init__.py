"""Ctrl-C stops everything within a second, and leaves the process usable."""
