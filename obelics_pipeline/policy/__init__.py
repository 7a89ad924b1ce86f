"""What must not be taken or kept: opt-outs, blocklists, personal data, unsafe images, what was taken back."""
