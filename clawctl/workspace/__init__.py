"""Where things are, and how they are changed without ever being half changed."""
