"""The report: one HTML page about a fitted model and its data, that needs no network."""
