"""Full-domain generalization: releases that generalize by levels of hierarchies (LeFevre et al. 2006, section 6; Incognito)."""
