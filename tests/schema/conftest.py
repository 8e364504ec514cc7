"""Its place puts this folder on the import path, so that tests below it can `import served_kinds`."""
