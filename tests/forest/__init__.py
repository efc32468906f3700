"""Forests as they are used."""
