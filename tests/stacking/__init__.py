"""Voting and stacking."""
