"""What threads recorded, on its way to tables: calls, readings, regions, OpenMP, gaps."""
