"""The exact method: loops out of which call follows which."""
