//go:build tools

// Package tools pins kwok, so that go mod tidy keeps its requirements.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
