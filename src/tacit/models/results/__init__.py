"""What fits found, as tables and sentences for people and as dictionaries for machines."""
