"""Opt-outs and licences: what owners state in a page, its headers, a site's files or a list about its use.

The stage that asks a service about opt-outs is `stages.consent`; it uses the reasons that are named here.
"""
