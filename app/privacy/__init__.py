"""Names, values and unknown words out of a text; pseudonyms for them, and back.

Imports `kg_store` and the wire types.
"""
