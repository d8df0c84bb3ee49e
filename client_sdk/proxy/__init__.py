"""`arog proxy`: an OpenAI-compatible server on the user's own machine, where the names of answers are restored."""
