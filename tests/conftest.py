"""Its place puts this folder on the import path, so that tests in all rooms can `import virtual`."""
