"""Commands one after another in a program of its own: a new Python for each would cost time.

Reads their words as JSON and prints as JSON how each ended, and what it said.
"""

from __future__ import annotations

import json
import sys

from command import burstline

if __name__ == "__main__":
    ends = (burstline(*words) for words in json.loads(sys.argv[1]))
    print(json.dumps([(end.returncode, end.stderr) for end in ends]))
