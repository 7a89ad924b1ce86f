"""Whether the machines are well: kernel messages, canaries, heartbeats, slow ranks, and a look before the start."""
