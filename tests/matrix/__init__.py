"""The matrix of the benchmarks: what it declares, how it measures, small cells."""
