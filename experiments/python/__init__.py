"""Programs in Python under the recorder: as without it, and with the frames that Python has."""
