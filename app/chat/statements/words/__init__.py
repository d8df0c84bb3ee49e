"""The words of a reply and of relations: tokens, forms, and the sentences by which a relation is said."""
