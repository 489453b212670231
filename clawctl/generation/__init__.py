"""Generation: tasks in, sampled rollouts out."""
