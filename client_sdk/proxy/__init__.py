"""`arog proxy`: OpenAI's API and Anthropic's on the user's own machine, where the names of answers are restored."""
