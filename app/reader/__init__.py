"""The English reader and the embedded reasoner: they answer questions without a language model.

Parts, each a folder or module:

- `english`: EnglishReader, the one object that wiring builds; it holds all parts below
- `embedded_reasoner`: EmbeddedReasoner, which does the tasks of a language model by likeness of words
- `step`: the next action of a retrieval step
- `asking_back`: offers questions where the one asked has several likely readings
- `concept_namer`, `concepts`: a concept for each kind of thing, from its relations
- `said_labels`: the relations whose labels a question says word for word
- `language`: English itself: forms of question, idioms, synonyms, other languages
- `meaning`: reads a question into an expression of the algebra
- `scoring`: ranks relations and paths by likeness to the question
- `plans`: builds answers from the ranked paths
- `checks`: compares a model's draft with its question
- `sentences`: puts answers and questions into English
- `suggestions`: makes questions to go on with
- `warm_up`: embeds a schema's words before they are needed

tests/layers.toml lists the packages that it may import.
"""
