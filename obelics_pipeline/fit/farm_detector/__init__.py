"""Making generated text out of trusted text, and a detector out of both: `obelics fit detector`."""
