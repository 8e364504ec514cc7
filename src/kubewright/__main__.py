"""`python -m kubewright`."""

from kubewright.cli import main

main()
