"""Public question sets, converted to our own form, and sets derived from them."""
