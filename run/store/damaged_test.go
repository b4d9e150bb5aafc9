package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

// A shared database can be written by others, and a folder may come from anyone: wherever a
// document was read, reports rely on the checks of result.Check.
func TestDocumentsAreChecked(t *testing.T) {
	ctx := t.Context()
	for want, statement := range map[string]string{
		"targets[0].repeats[0].load.settled: 1e+300 is out of range": `UPDATE documents SET document = replace(document, '"settled":8.4', '"settled":1e300')`,
		"targets[0].repeats[1]": `INSERT INTO pieces (run, number, document)
			SELECT id, 1, '{"target":{"name":"duck"},"repeat":2,"queries":{"type":"lastpoint","each":[1e300]}}' FROM documents`,
		"its document is of run \"20260131-154500-ffff\"": `UPDATE documents SET document = replace(document, id, '20260131-154500-ffff')`,
		"its id \"../x\" names no folder":                 `UPDATE documents SET document = replace(document, id, '../x'), id = '../x'`,
	} {
		s := openTemp(t)
		run := &result.Run{Started: started, Targets: []result.Target{{Name: "duck", Repeats: []result.Repeat{{Number: 1, Load: &result.Load{Settled: 8.4}}}}}}
		must(t, s.Begin(ctx, run))
		_, err := s.Run(ctx, Latest)
		must(t, err)
		_, err = s.db.ExecContext(ctx, statement)
		must(t, err)
		for name, read := range map[string]func() error{
			"the run":      func() error { _, err := s.Run(ctx, Latest); return err },
			"its document": func() error { _, _, err := s.Document(ctx, Latest); return err },
		} {
			if err := read(); !strings.Contains(fmt.Sprint(err), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}
