"""Quantiles and intervals on new rows: how many targets they hold, and how wide they are."""
