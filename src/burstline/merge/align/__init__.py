"""Matching by aligning: what each burst is called in all runs, and what lies beside what."""
