"""Bagging: laws that hold for every member and draw, and what happens at the edges."""
