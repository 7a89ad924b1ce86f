"""The stage consent: a service on the web says which pages and images are opted out."""
