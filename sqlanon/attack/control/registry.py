"""The attacks with a control group, in the order of reports; a new attack is a file and a line here."""

from __future__ import annotations

from sqlanon.attack.control.classifier import CLASSIFIER
from sqlanon.attack.control.inference import INFERENCE
from sqlanon.attack.control.linkability import LINKABILITY
from sqlanon.attack.control.membership import MEMBERSHIP
from sqlanon.attack.control.singling_out import MULTIVARIATE, UNIVARIATE

ATTACKS = {attack.name: attack for attack in (UNIVARIATE, MULTIVARIATE, LINKABILITY, INFERENCE, CLASSIFIER, MEMBERSHIP)}
