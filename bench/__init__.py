"""The benchmark: lanesort beside its peers, as ratios within one run."""
