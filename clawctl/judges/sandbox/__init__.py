"""Running what was not written here: other programs, and the code of answers. Time, memory and output are bounded."""
