"""Names the predicates and classes of RDF vocabularies that are names, types or schema in every graph."""

from __future__ import annotations

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
FOAF = "http://xmlns.com/foaf/0.1/"
WIKIBASE = "http://wikiba.se/ontology#"

NAME_PREDICATES = (
    RDFS + "label",
    SKOS + "prefLabel",
    FOAF + "name",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://www.w3.org/2006/vcard/ns#fn",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
    "http://schema.org/legalName",
    "https://schema.org/legalName",
    SKOS + "altLabel",
    SKOS + "hiddenLabel",
    FOAF + "nick",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
)
"""Predicates whose literals are names, the best first: the first one that an entity has gives its preferred name."""

SUBCLASS_PREDICATES = (RDFS + "subClassOf",)
INVERSE_PREDICATE = OWL + "inverseOf"
SCHEMA_PREDICATES = (
    RDFS + "domain",
    RDFS + "range",
    RDFS + "subPropertyOf",
    OWL + "equivalentClass",
    OWL + "equivalentProperty",
    OWL + "disjointWith",
    INVERSE_PREDICATE,
    OWL + "propertyDisjointWith",
    OWL + "imports",
    OWL + "versionInfo",
    OWL + "versionIRI",
    *(
        WIKIBASE + name
        for name in (
            "directClaim claim statementProperty statementValue qualifier qualifierValue reference "
            "referenceValue novalue propertyType"
        ).split()
    ),
)
"""Predicates that describe predicates and classes; their triples are schema and not facts."""

SCHEMA_CLASSES = (
    RDFS + "Class",
    RDFS + "Datatype",
    RDF + "Property",
    *(
        OWL + name
        for name in (
            "Class Restriction Ontology ObjectProperty DatatypeProperty AnnotationProperty FunctionalProperty "
            "InverseFunctionalProperty TransitiveProperty SymmetricProperty AllDisjointClasses"
        ).split()
    ),
    WIKIBASE + "Property",
)
"""Classes whose instances are predicates, classes or ontologies."""
