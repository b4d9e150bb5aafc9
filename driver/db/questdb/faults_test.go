package questdb

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// TestFaults checks that a failure of a QuestDB server leads to one clear line, or to figures that show
// it.
func TestFaults(t *testing.T) {
	conformance.Long(t)
	conformance.Address(t, "questdb") // only where servers can be had
	fault.Run(t, fault.Target{
		Driver: Driver(), Server: fault.Script(t, "questdb"),
		Ports:   map[string]int{connection.Port: 0, optionPGPort: 1, optionILPPort: 2},
		Options: map[string]string{connection.Timeout: "5s"},
		Cannot: map[string]string{
			fault.WrongDatabase: "QuestDB has one database, whatever name is given",
		},
	})
}

// Rows that are sent again are there once where QuestDB is told to see to it.
func TestFaultsWithDedup(t *testing.T) {
	conformance.Long(t)
	conformance.Address(t, "questdb")
	f := fault.Target{
		Driver: Driver(), Server: fault.Script(t, "questdb"), Options: map[string]string{optionDedup: "tags"},
		Ports: map[string]int{connection.Port: 0, optionPGPort: 1, optionILPPort: 2},
	}
	fault.RunOnly(t, f, fault.KilledRetried)
}

// A server that is killed while the note is replaced has the last one that it
// acknowledged, or the one that came after it.
func TestNoteOutlivesAKill(t *testing.T) {
	conformance.Long(t)
	conformance.Address(t, "questdb")
	server := fault.Script(t, "questdb")
	d := Driver()
	options, err := d.Resolve(map[string]string{connection.Port: strconv.Itoa(server.Port())})
	if err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context(), driver.Env{Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	note := func(n int) string { return fmt.Sprint(n, strings.Repeat(" long", n%200)) }
	acknowledged := 1
	if err := db.SetNote(t.Context(), note(acknowledged)); err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for db.SetNote(t.Context(), note(acknowledged+1)) == nil {
				acknowledged++
			}
		}()
		time.Sleep(time.Duration(300+70*round) * time.Millisecond)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		<-ended
		if err := server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := db.Note(t.Context())
		if err != nil || got != note(acknowledged) && got != note(acknowledged+1) {
			t.Fatalf("after %d notes: %q, %v", acknowledged, got, err)
		}
		if got == note(acknowledged+1) {
			acknowledged++
		}
	}
}
