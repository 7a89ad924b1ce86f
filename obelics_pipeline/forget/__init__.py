"""`obelics forget`: takes documents and images back out of a run, and leaves tombstones that later runs obey."""
