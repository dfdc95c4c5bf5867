"""Results as pictures: SVG, PNG, or characters for a terminal."""
