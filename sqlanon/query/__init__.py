"""Questions about releases: analysts' SQL answered with estimates and sound bounds, workloads, divergence from the source."""
