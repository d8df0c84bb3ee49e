"""`arog proxy`: serves OpenAI's and Anthropic's API on the user's own machine, where names in answers are restored."""
