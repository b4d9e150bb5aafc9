package questdb

import (
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
)

// What goes wrong with a QuestDB server ends in one clear line, or in figures
// that say what happened.
func TestFaults(t *testing.T) {
	targettest.Address(t, "questdb") // only where servers can be had
	targettest.Faults(t, targettest.Faulty{
		Kind: Kind(), Server: targettest.Script(t, "questdb"),
		Ports:   map[string]int{optionPort: 0, optionPGPort: 1, optionILPPort: 2},
		Options: map[string]string{optionTimeout: "5s"},
		Cannot: map[string]string{
			targettest.WrongDatabase: "QuestDB has one database, whatever name is given",
		},
	})
}

// Rows that are sent again are there once where QuestDB is told to see to it.
func TestFaultsWithDedup(t *testing.T) {
	targettest.Address(t, "questdb")
	f := targettest.Faulty{
		Kind: Kind(), Server: targettest.Script(t, "questdb"), Options: map[string]string{optionDedup: "tags"},
		Ports: map[string]int{optionPort: 0, optionPGPort: 1, optionILPPort: 2},
	}
	targettest.FaultsOnly(t, f, targettest.KilledRetried)
}
