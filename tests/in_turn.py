"""Commands one after another in a program of its own: a new Python for each would cost time.

Reads their words as JSON and prints as JSON how each ended, and what it said.
"""

from __future__ import annotations

import gc
import json
import sys

from command import burstline

if __name__ == "__main__":
    ends = []
    for words in json.loads(sys.argv[1]):
        end = burstline(*words)
        ends.append((end.returncode, end.stderr))
        gc.collect()  # what one command leaves would not be there in the next one's own Python
    print(json.dumps(ends))
