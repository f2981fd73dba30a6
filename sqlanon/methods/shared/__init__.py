"""What several methods use: input arrays of kernels, boxes of classes, bounds on loss, refinement, threads."""
