"""Public question sets as ours, and what is made of them."""
