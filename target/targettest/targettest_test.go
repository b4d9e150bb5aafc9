package targettest_test

import (
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
)

// The suite passes a right target.
func TestMemory(t *testing.T) { targettest.Run(t, targettest.Memory("memory"), nil) }
