"""A made web site with planted cases of all that safety and consent are about, and what comes near them.

Nobody who wrote the code that finds them wrote this, and it was written without a look at that code.
See benchmarks/safety.py.
"""
