"""The vocabulary and the engine of the pipeline, and the command line that runs it."""
