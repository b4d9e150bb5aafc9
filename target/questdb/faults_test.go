package questdb

import (
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
)

// What goes wrong with a QuestDB ends in one clear line, or in figures that say
// what happened.
func TestFaults(t *testing.T) {
	server(t) // tells how, where servers are not to be started
	targettest.Faults(t, targettest.Faulty{
		Kind: Kind(), Server: targettest.Script(t, "questdb"),
		Ports: map[string]int{optionPort: 0, optionPGPort: 1, optionILPPort: 2},
		Cannot: map[string]string{
			targettest.WrongDatabase: "QuestDB has no databases",
			targettest.WrongPassword: "the test server asks for none over HTTP",
		},
	})
}

// Rows that are sent again are there once where QuestDB is told to see to it.
func TestFaultsWithDedup(t *testing.T) {
	server(t)
	f := targettest.Faulty{
		Kind: Kind(), Server: targettest.Script(t, "questdb"), Options: map[string]string{optionDedup: "tags"},
		Ports: map[string]int{optionPort: 0, optionPGPort: 1, optionILPPort: 2},
	}
	targettest.FaultsOnly(t, f, targettest.KilledRetried)
}
