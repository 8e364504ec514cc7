module kubewright.dev/bench/stub

go 1.26.0
