"""The benchmark: one operator on Kubewright, on controller-runtime and on kopf. Run: make bench, make bench-quick."""
