"""``python -m burstline``: the command line."""

from burstline.cli import main

main()
