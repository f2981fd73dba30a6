"""The experiments of Goldberger and Tassa (2010) on Adult."""
