"""From a decoded page to interleaved nodes."""
