package questdb

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
)

// An answer without an end ends all the same, in a line and with little memory.
func TestEndlessAnswers(t *testing.T) {
	const begin = `{"query":"x","columns":[{"name":"a","type":"VARCHAR"}],"dataset":[`
	for _, c := range []struct {
		name, begin, part, says string
		counted                 bool // the rows of a query are only counted
	}{
		{"rows", begin + `["a"]`, `,["a"]`, "more than 100000 rows", false},
		{"a row", begin + `["a"`, `,"a"`, "", false},
		{"a value", begin + `["`, "aaaaaaaa", "no row within 32 MiB", false},
		{"a value that is only counted", begin + `["`, "aaaaaaaa", "no row within 32 MiB", true},
		{"columns", `{"columns":[{"name":"a","type":"VARCHAR"}`, `,{"name":"a","type":"VARCHAR"}`, "no row within 32 MiB", false},
		{"blanks", "", "        ", "no row within 32 MiB", false},
		{"members", `{"x":1`, `,"y":1`, "no row within 32 MiB", true},
		{"what follows the answer", begin + `],"count":0}`, "        ", "no row within 32 MiB", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settingsOf(t, serve(t, fault.EndlessAnswer(c.begin, c.part)))
			d := newDatabase(s)
			defer conformance.Close(t, d)
			err := fault.EndsBounded(t, func() error {
				if c.counted {
					_, err := d.own.Do(t.Context(), driver.Request{Text: "SELECT"}, nil)
					return err
				}
				_, err := d.own.Query(t.Context(), "SELECT")
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
	t.Run("endless error", func(t *testing.T) {
		s := settingsOf(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fault.Endless(w, "", "no ")
		}))
		e := newExec(s)
		defer conformance.Close(t, e)
		_ = fault.EndsBounded(t, func() error { _, err := e.Do(t.Context(), driver.Request{Text: "SELECT"}, nil); return err })
	})
}
