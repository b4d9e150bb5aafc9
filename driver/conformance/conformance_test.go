package conformance

import "testing"

// The suite passes a right target.
func TestMemory(t *testing.T) { Run(t, Memory("memory"), nil) }
