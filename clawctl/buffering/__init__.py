"""The buffer: scored rollouts wait in groups until there are enough for a batch to train on."""
