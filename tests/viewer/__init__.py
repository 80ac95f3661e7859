"""The viewer's page."""
