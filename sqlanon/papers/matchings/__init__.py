"""The other ways of matching rows with boxes that Doka et al. 2015 compare."""
