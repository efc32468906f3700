"""Naive twins of the fast paths: slow, short programs that the engine is measured against."""
