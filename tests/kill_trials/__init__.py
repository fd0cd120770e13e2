"""Commands that are killed, run out of disk or lose their workers at random moments: what they must not leave."""
