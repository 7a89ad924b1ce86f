"""What a run must not take or keep: opt-outs, blocklisted sites, personal data, unsafe images, removed documents."""
