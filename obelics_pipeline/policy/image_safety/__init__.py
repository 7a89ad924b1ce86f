"""Image safety: matches of known abuse material are dropped, location metadata is removed, faces are blurred on
request.
"""
