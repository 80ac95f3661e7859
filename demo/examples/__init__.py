"""Short scripts, one idea each; each ends by itself: ``python -m demo.examples.NAME``.

Games of engines have a window until it is closed; with ``--frames N`` they end by themselves, too.
"""
