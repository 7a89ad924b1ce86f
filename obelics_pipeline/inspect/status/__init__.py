"""Where a run is: what its folder says while it is at work, stopped, failing or finished."""
