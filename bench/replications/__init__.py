"""Published experiments on the bagging family, run again: see `bench.replications.run`."""
