"""Stagewise models: the methods that come out of them, and what happens at the edges."""
