"""Domains with questions and dialogues by people who have not seen the code, and the fit of the ranker of readings."""
