"""From a policy to a release that could be published: prepare, guards, plan, recode, run."""
