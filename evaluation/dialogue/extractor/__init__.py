"""Questions for the extractor, made from graphs and from the replies of dialogues, and how well it answers them."""
