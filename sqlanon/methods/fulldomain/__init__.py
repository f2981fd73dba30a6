"""Full-domain generalization.

It generalizes by levels of hierarchies (LeFevre et al. 2006, section 6; Incognito).
"""
