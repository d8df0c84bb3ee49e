"""A short story with two days, two places and people who speak in every way."""

STORY = """
"The pears are for Mother," Mara Venn said. She stood in the kitchen of the lighthouse.

"You are late," answered her brother Tobias. "The ferry left at five."

The next morning Captain Orr came to the harbour. He carried a blue lantern.

"Where is the letter?" she asked.

Tobias pointed at the stove. "I burned it."

Two weeks later, in the post office, Captain Orr sold the boat to a baker from Tarnmouth.
"""
