"""Contacts of many shapes with a map, in stages over chunks."""
