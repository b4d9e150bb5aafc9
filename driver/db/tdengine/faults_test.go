package tdengine_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/tdengine"
)

// TestFaults checks that a server failure leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) {
	fault.Run(t, fault.Target{
		Driver: tdengine.Driver(), Server: fault.Script(t, "tdengine"),
		Patience: time.Minute, // two processes start one after the other
	})
}

// So it does with prepared statements, and with answers as JSON.
func TestFaultsOptions(t *testing.T) {
	conformance.Long(t)
	fault.RunOnly(t, fault.Target{
		Driver: tdengine.Driver(), Server: fault.Script(t, "tdengine"), Options: map[string]string{"write": "stmt", "read": "rest"},
		Patience: time.Minute,
	}, fault.Killed, fault.KilledRetried, fault.CutQuery, fault.WrongPassword, fault.NeverAnswers, fault.FallsSilent)
}
