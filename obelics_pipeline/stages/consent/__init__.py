"""The stage consent: asks a service on the web which pages and images are opted out, and drops those.

Opt-outs that need no service (of the page itself, or of a list) are in `policy.opt_outs`; the stage extract obeys them.
"""
