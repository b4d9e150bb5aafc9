package tdengine_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/tdengine"
)

// What goes wrong with a server ends in one clear line, or in figures that say what
// happened.
func TestFaults(t *testing.T) {
	conformance.Faults(t, conformance.Faulty{
		Kind: tdengine.Driver(), Server: conformance.Script(t, "tdengine"),
		Patience: time.Minute, // two processes start one after the other
	})
}

// So it does with prepared statements, and with answers as JSON.
func TestFaultsOptions(t *testing.T) {
	conformance.Long(t)
	conformance.FaultsOnly(t, conformance.Faulty{
		Kind: tdengine.Driver(), Server: conformance.Script(t, "tdengine"), Options: map[string]string{"write": "stmt", "read": "rest"},
		Patience: time.Minute,
	}, conformance.Killed, conformance.KilledRetried, conformance.CutQuery, conformance.WrongPassword, conformance.NeverAnswers, conformance.FallsSilent)
}
