"""The guard of a training run: it sees drift and loss spikes early, and says what to do; nothing here needs torch.

`signals` are small tests with a memory of JSON values, `panel` holds one of them for each number that is watched,
`guard` is the state machine on top, `verdict` says afterwards what a loss spike probably was.
"""
