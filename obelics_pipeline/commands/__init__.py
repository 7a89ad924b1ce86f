"""What `obelics` can be told: a file for each group of commands. Each imports what it needs when it is called."""
