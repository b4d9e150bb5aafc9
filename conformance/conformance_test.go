package conformance

import (
	"testing"

	"github.com/tsmark/tsmark/conformance/memory"
)

// A database that is correct passes the suite.
func TestMemory(t *testing.T) { Run(t, memory.Driver("memory"), nil) }
