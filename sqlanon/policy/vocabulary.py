"""The words by which ``sqlanon init`` reads the names of columns. Their effect is in `sqlanon.policy.roles`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence


def _vocabulary(words: str) -> frozenset[str]:
    return frozenset(words.split())


IDENTIFIERS = _vocabulary(
    "name names firstname lastname forename surname fullname fname lname mname maiden nickname username user email "
    "mail ssn sin nin nino nhs mrn bsn cpf dni nif nie curp aadhaar pesel personnummer medicare medicaid phone "
    "telephone tel mobile fax address addr street url uri website ip ipaddress imei iban creditcard passport vin "
    "password passwd secret signature photo picture fingerprint biometric note notes comment comments remark remarks "
    "description freetext latitude longitude lat lon lng geom geometry coordinates contact kontakt claimant nachname "
    "vorname familienname anschrift adresse strasse straße telefon handy sender receiver recipient payer payee owner"
)
"""Words that identify a person, or may, however many values there are."""
STAFF = _vocabulary(
    "nurse doctor physician provider clinician attending surgeon therapist officer agent clerk teacher manager "
    "supervisor chef arzt ärztin hausarzt verordner behandler lehrer lehrerin lehrkraft bearbeiter sachbearbeiter "
    "pfleger betreuer berater"
)
"""Words for persons who did something for the persons of the rows.

A column with such a word has names, unless it has a few words (``officer_race``).
"""
NUMBERS = _vocabulary("id identifier no nr nbr num number nummer numero key uid uuid guid pid ref reference")
BY_COUNT = NUMBERS | _vocabulary(
    "account acct card login mac token license licence plate badge case patient pat subject participant respondent "
    "member mbr customer cust client employee emp student resident beneficiary bene donor user"
)
"""Words that identify at the end of a name, if the column has many values.

``account_no`` does, ``admission_type_id`` may not.
"""
PERSONS = _vocabulary(
    "patient pat pt person pers customer cust client member mbr user employee emp student subject subj participant "
    "respondent resident insured citizen voter beneficiary bene donor pupil worker taxpayer nhs mr usubj visitor rider "
    "driver passenger kunde versicherter mitglied teilnehmer proband individual who schüler schueler schülerin vpn "
    "versuchsperson mitarbeiter angestellter bewohner klient mandant mieter fahrer"
)
"""Words for persons: alone, or with a word of `NUMBERS`, they name the owner of a row."""
PERSONS_NUMBERED = PERSONS | _vocabulary("response account session device household")
"""The same, and words that do so only with a number."""
FIRST_PERSONS = _vocabulary(
    "patient pat pt person pers subject subj participant respondent resident insured citizen beneficiary bene nhs mr "
    "mrn usubj proband versicherter member mbr customer cust client pupil student donor kunde mitglied schüler schueler"
)
"""Of these, those whom a table is about where it names others as well, such as users and employees."""
_JOINED = re.compile(
    f"({'|'.join(sorted(PERSONS))}|encounter|enc|visit|episode|stay|case|account|acct|policy|claim|card|"
    "record|rec|row|site|order|invoice|trip)"
    "(id|no|nr|nbr|num|number|key)"
)
_NUMBERED = re.compile(r"\w{3,}(nummer|nr|number)")
_GERMAN = re.compile(
    r"(kunden|patienten?|versicherten|mitglieds|personal|personen|teilnehmer|probanden|matrikel)(nummer|nr|id)|matrikel"
)
_OF_PERSONS = re.compile(f"({'|'.join(sorted(PERSONS))})(id|no|nr|nbr|num|number|key)|desynpuf_?id|ptid|mrn")
ROW_NUMBERS = _vocabulary("id identifier uid uuid guid pid")
"""Names of numbers that do not say which thing they number."""
FREE_TEXT = _vocabulary(
    "name names firstname lastname forename surname fullname fname lname mname maiden nickname note notes comment"
    " comments remark remarks description freetext address addr street"
)
"""Identifying words of texts: that a value of them repeats proves nothing about persons."""
SENSITIVE = _vocabulary(
    "disease diseases illness condition conditions disorder symptom symptoms hiv hypertension diabetes cancer stroke "
    "depression smoker medication medications drug drugs treatment therapy procedure surgery prescription reaction "
    "adverse result results finding findings outcome verdict sentence salary income wage wages earnings debt religion "
    "faith political party orientation sexuality conviction offence offense charge crime criminal recid recidivism "
    "disability allergy allergies attrition churn fraud loan credit amount charges spending paid claim premium "
    "performance score rating suicide abuse alcohol health medical pregnant pregnancy infection infected positive "
    "tumor tumour cholesterol glucose mental anxiety relapse survived default delinquent delinq bankrupt bankruptcy "
    "lien liens bonus pension wealth turnover terminated termination resigned gpa befund krankheit erkrankung "
    "medikament medikation behandlung therapie gehalt einkommen lohn schulden kredit vermögen religion konfession "
    "delikt straftat strafe urteil zensur wirkstoff arzneimittel arrest arrested"
)
"""Words for facts that nobody may learn of a person."""
CODED = re.compile(
    r"diags?|\w*diagnos(en?|[ei]s)|dgns|icd\w*|[ps]?dx|"
    r"(ae|mh|ce|sae)(term|decod|llt|hlt|hlgt|bodsys|soc|ptcd|lltcd)|(cm|pr|ex|su)(trt|decod|clas|indc)"
    r"|[a-z]{2}(orres|stres[cn]?)|cod"
)
"""Codes of diagnoses, and the variables of clinical trials (CDISC SDTM) for terms, treatments and results.

Examples are ``diag_1`` and ``aedecod``.
"""
QUASI = _vocabulary(
    "age birth birthday birthdate dob brthdtc brthdt born zip zipcode postcode postal plz city town county state "
    "region province country nation nationality native place sex gender male female race ethnicity ethnic hispanic "
    "black marital married marriage education degree occupation job profession employer workclass language "
    "relationship children household admitted admission discharge discharged visit death died height weight hospital "
    "ward department neighborhood neighbourhood borough suburb blutgruppe jahrgang alter geburtsdatum geburtsjahr "
    "geschlecht wohnort ort stadt bundesland land beruf familienstand nationalität station"
)
"""Words for facts that others may know of a person."""
GROUPED = _vocabulary(
    "age birth birthday birthdate dob born sex gender male race ethnicity ethnic zip zipcode postcode plz city state "
    "region country marital alter geburtsdatum geschlecht wohnort"
)
"""Those of `QUASI` that tables of persons are mostly grouped by."""
ATTRIBUTES = _vocabulary(
    "birth birthday birthdate dob brthdtc brthdt born sex gender male female race ethnicity ethnic ethnicgroup "
    "hispanic age nationality geburtsdatum geburtsjahr jahrgang blutgruppe geschlecht nationalität"
)
"""Words for attributes that are constant, or nearly, over the rows of a person: a person's number determines them."""
ROWS = re.compile(
    r"row_?(names?|num|number|no|nr|index)?|index|unnamed(_\d+)?|column0|[a-z]{2}(seq|spid)|seq(_?(no|nr|num))?"
)
"""Names of numbers of the rows of a table, or of the rows of a person."""
TIMES = _vocabulary(
    "time day days week month year quarter hour minute date period wave round step seq visit tag woche monat jahr "
    "quartal stunde datum zeit"
)
"""Words for when: as even as persons are where all are seen at the same times."""
POSTCODES = _vocabulary("zip zipcode postcode postal plz")
COUNTS = _vocabulary("num number n nr no count cnt total")
_ENDS = re.compile(
    r"\w+(befund|krankheit|erkrankung|medikament|medikation|behandlung|therapie|"
    r"gehalt|einkommen|lohn|delikt|urteil|strafe)"
)
"""German words for sensitive facts, as the last part of a compound: ``bruttogehalt``."""
_NO_MONEY = _vocabulary("work life balance hours")
"""Of a name made of these words only, ``balance`` is not an account's: ``WorkLifeBalance``."""


def words_of(name: str) -> list[str]:
    """The words of a name in snake, kebab or camel case, lower case."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", name))
    return [word.casefold() for word in re.split(r"[\W_]+", spaced) if word]


def find_first(words: Sequence[str], vocabulary: frozenset[str]) -> str | None:
    """The first word that is known, with or without digits at the end, or the whole name written together."""
    for word in (*words, "".join(words)):
        for form in (word, word.rstrip("0123456789")):
            if form in vocabulary:
                return form
    return None


def find_compound(words: Iterable[str]) -> str | None:
    """The first German word that ends with a word for a sensitive fact."""
    return next((word for word in words if _ENDS.fullmatch(word)), None)


def find_code(words: Iterable[str]) -> str | None:
    """The first word that is a code of a diagnosis, a term or a result."""
    return next((word for word in words if CODED.fullmatch(word.rstrip("0123456789"))), None)


def is_numbered_thing(word: str) -> bool:
    """Whether a word is a thing and a number, written together: ``patientid``, ``kundennummer``."""
    return _JOINED.fullmatch(word) is not None or _NUMBERED.fullmatch(word) is not None


def names_person(words: Sequence[str]) -> bool:
    """Whether a name says that it is the number of a person: ``patient_nbr``, ``USUBJID``, ``PATIENT``."""
    plain = [word for word in words if not word.isdecimal()]
    if not plain:
        return False
    pairs = itertools.pairwise(plain)
    if any(before.rstrip("0123456789") in PERSONS_NUMBERED and word in NUMBERS for before, word in pairs):
        return True
    last = plain[-1].rstrip("0123456789")
    together = "".join(plain)
    return (
        _OF_PERSONS.fullmatch(last) is not None
        or _GERMAN.fullmatch(together) is not None
        or _OF_PERSONS.fullmatch(together) is not None
        or (len(plain) == 1 and last in PERSONS)
        or last == "mrn"
    )


def names_first(words: Sequence[str]) -> bool:
    """Whether the name of a person's number names whom the table is about, and not a user or an employee."""
    together = "".join(words)
    return any(word in words or together.startswith(word) for word in FIRST_PERSONS)


def means_money(words: Sequence[str]) -> bool:
    """Whether ``balance`` in a name means money."""
    return "balance" in words and (len(words) == 1 or not _NO_MONEY.issuperset(words))
