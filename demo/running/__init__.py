"""Runs: command line, window, replays."""
