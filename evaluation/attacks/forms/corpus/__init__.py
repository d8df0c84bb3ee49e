"""The material of forms: names, sentences, graphs, files and words for numbers; imports nothing of the service."""
