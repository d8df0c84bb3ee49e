"""General nouns for concepts: what a graph's own classes and relations do not say."""

GENERAL_NOUNS: tuple[str, ...] = tuple(
    (
        "person, organization, company, city, country, geographic location, building, hospital, school, university, "
        "film, tv program, book, song, music album, musical group, game, software, product, vehicle, ship, aircraft, "
        "event, war, sports team, sports league, political party, government office, job title, medical condition, "
        "drug, medical treatment, food, animal, plant, chemical, language, religion, ethnicity, currency, award, "
        "account, payment, order, document, address, appointment, measurement, time zone, river, mountain, fictional "
        "character, website, law, project, course, contract, insurance policy, topic"
    ).split(", ")
)
