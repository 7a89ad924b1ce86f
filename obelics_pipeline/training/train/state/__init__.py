"""The state of a training run: its ledger (what was changed and why), and the checkpoints from which it resumes."""
