"""The interface that all grounds share."""
