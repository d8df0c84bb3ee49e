"""Makes questions that the graph can answer, in plain English: one hop from one thing, and all things of a kind."""
