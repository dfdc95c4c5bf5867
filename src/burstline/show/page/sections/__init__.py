"""Sections of a page: results in, titles, tables and pictures out."""
