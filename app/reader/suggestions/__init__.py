"""Questions that the graph answers, in plain English: of one step from one thing, and of all things of a kind."""
