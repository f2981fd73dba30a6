"""Code of several methods: input arrays of kernels, boxes of classes, bounds on loss, refinement, threads."""
