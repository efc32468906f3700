"""Benchmarks of weald and its peers: `make bench`, or `python -m bench.run --help`."""
