"""The loop: the stages in turn, round after round, resumable at the stage where it stopped."""
