package questdb

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/connection"
)

// What goes wrong with a QuestDB server ends in one clear line, or in figures
// that say what happened.
func TestFaults(t *testing.T) {
	conformance.Address(t, "questdb") // only where servers can be had
	conformance.Faults(t, conformance.Faulty{
		Kind: Driver(), Server: conformance.Script(t, "questdb"),
		Ports:   map[string]int{connection.Port: 0, optionPGPort: 1, optionILPPort: 2},
		Options: map[string]string{connection.Timeout: "5s"},
		Cannot: map[string]string{
			conformance.WrongDatabase: "QuestDB has one database, whatever name is given",
		},
	})
}

// Rows that are sent again are there once where QuestDB is told to see to it.
func TestFaultsWithDedup(t *testing.T) {
	conformance.Address(t, "questdb")
	f := conformance.Faulty{
		Kind: Driver(), Server: conformance.Script(t, "questdb"), Options: map[string]string{optionDedup: "tags"},
		Ports: map[string]int{connection.Port: 0, optionPGPort: 1, optionILPPort: 2},
	}
	conformance.FaultsOnly(t, f, conformance.KilledRetried)
}
