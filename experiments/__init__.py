"""One module for each figure or table of the sources; each writes a table and a picture."""
