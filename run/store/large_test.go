package store

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

// A stored run or sweep is read only up to a limit, like an export, in every kind of store: the
// size is queried first.
func TestLargeDocuments(t *testing.T) {
	folder := openTemp(t)
	shared, err := Open(t.Context(), database(t), nil)
	must(t, err)
	defer shared.Close()
	for name, s := range map[string]*Store{"folder": folder, "PostgreSQL": shared} {
		run := newRun(t)
		must(t, s.Begin(t.Context(), run))
		must(t, s.BeginSweep(t.Context(), &result.Sweep{Started: started, Command: strings.Repeat("x", 5000)}))
		_, document, err := s.Document(t.Context(), run.ID)
		must(t, err)
		check := func(what string, err error, refused bool) {
			t.Helper()
			if (err != nil) != refused || refused && (!strings.Contains(err.Error(), " is stored of it, which tsmark does not read") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		s.most = int64(len(document)) + 10
		_, err = s.Run(t.Context(), run.ID)
		check("as large as may be", err, false)
		must(t, s.Append(t.Context(), run, result.NewPiece(&run.Targets[0], 1, run.Targets[0].Load, nil)))
		_, err = s.Run(t.Context(), run.ID)
		check("with a piece", err, true)
		s.most = 100
		_, err = s.Run(t.Context(), run.ID)
		check("a run", err, true)
		_, err = s.Sweeps(t.Context())
		check("sweeps", err, true)
	}
}
