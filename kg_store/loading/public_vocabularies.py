"""Public vocabularies: predicates and classes whose words stand in a published standard, and so tell of nobody."""

from __future__ import annotations

from collections.abc import Container
from functools import cache


@cache
def is_public_term(iri: str) -> bool:
    """True where `iri` is a term that a vocabulary defines (FOAF, schema.org, SKOS, PROV, ...), by rdflib's lists.

    A word of one's own in the namespace of a vocabulary is none.
    """
    iri = iri.replace("http://schema.org/", "https://schema.org/")
    return any(iri in vocabulary for vocabulary in _vocabularies())


@cache
def _vocabularies() -> tuple[Container[str], ...]:
    # Only loads need it, and it takes a while to import.
    from rdflib import namespace as known

    return (
        known.RDF, known.RDFS, known.OWL, known.SKOS, known.FOAF, known.DC, known.DCTERMS, known.SDO, known.ORG,
        known.PROV, known.TIME, known.SOSA, known.SSN, known.DOAP, known.VOID, known.DCAT,
    )  # fmt: skip
