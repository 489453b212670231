"""The house itself: what is where (status), and whether this machine can run the loop (doctor)."""
