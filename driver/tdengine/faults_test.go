package tdengine_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/tdengine"
)

// What goes wrong with a server ends in one clear line, or in figures that say what
// happened.
func TestFaults(t *testing.T) {
	conformance.Faults(t, conformance.Faulty{
		Kind: tdengine.Driver(), Server: conformance.Script(t, "tdengine"),
		Patience: time.Minute, // two processes start one after the other
		Cannot: map[string]string{
			conformance.Throttled: "its protocol is not HTTP",
		},
	})
}
