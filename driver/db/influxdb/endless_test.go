package influxdb

import (
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/slowtest"
)

// An answer without an end ends all the same, in a line and with little memory.
func TestEndlessAnswers(t *testing.T) {
	slowtest.Skip(t)
	const begin = `{"results":[{"series":[{"name":"m","columns":["time","a"],"values":[`
	for _, c := range []struct {
		name, begin, part, says string
		counted                 bool // the rows of a query are only counted
	}{
		{"rows", begin + `[1,"a"]`, `,[1,"a"]`, "more than 100000 rows", false},
		{"a row", begin + `[1`, `,"a"`, "no row within 32 MiB", false},
		{"a value", begin + `[1,"`, "aaaaaaaa", "no row within 32 MiB", true},
		{"columns", `{"results":[{"series":[{"columns":["time"`, `,"a"`, "no row within 32 MiB", false},
		{"tags", `{"results":[{"series":[{"tags":{"a":"b"`, `,"a":"b"`, "more than 100000 tags", false},
		{"series without rows", `{"results":[{"series":[{}`, `,{"name":"m"}`, "no row within 32 MiB", true},
		{"results", `{"results":[{}`, `,{}`, "no row within 32 MiB", true},
		{"documents", "", `{"results":[]}`, "no row within 32 MiB", true},
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
}
