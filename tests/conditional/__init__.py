"""Conditional mixtures."""
