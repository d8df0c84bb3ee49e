"""What forms are made of: names, sentences, graphs, files and words for numbers; imports nothing of the service."""
