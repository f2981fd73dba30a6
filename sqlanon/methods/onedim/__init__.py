"""The one-dimensional framework (Ghinita et al., 2009): orders of rows, and solvers that divide an order."""
