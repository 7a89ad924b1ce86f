"""What people look at before, during and after a run."""
