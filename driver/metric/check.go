package metric

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// NoteTable is the table whose name the note has.
const NoteTable = Own + "mark"

// Check returns an error for what a system of metrics cannot hold: fields of other
// types than those that are listed, and names that it has not or that are two
// fields' at once.
func Check(s *series.Schema, system string, held map[series.Type]driver.Stored) error {
	metrics := map[string]string{}
	for _, t := range s.Tables {
		if t.Name == NoteTable {
			return fmt.Errorf("a table is called %s, which is tsmark's own: rename it", t.Name)
		}
		taken := map[string]bool{"__name__": true}
		for i, name := range append([]string{t.Name}, t.ColumnNames()...) {
			switch {
			case name == "" || strings.ContainsAny(name, "\n") || strings.HasPrefix(name, "#") || driver.Ambiguous([]byte(name)):
				return fmt.Errorf("table %s has something called %q, which line protocol cannot say: rename it", t.Name, name)
			case strings.HasPrefix(name, Own):
				return fmt.Errorf("table %s has a tag or field called %s; what begins with %s is tsmark's own: rename it", t.Name, name, Own)
			case i > 0 && taken[name]:
				return fmt.Errorf("two tags or fields of table %s are called %s, or it is the name of metrics: rename one", t.Name, name)
			}
			taken[name] = i > 0 || taken[name]
		}
		for _, f := range t.Fields {
			if held[f.Type].As == "" {
				return fmt.Errorf("field %s of table %s is of the type %v, and %s holds numbers alone; choose another target, or a dataset without such fields", f.Name, t.Name, f.Type, system)
			}
			name := Name(t.Name, f.Name)
			if other := metrics[name]; other != "" {
				return fmt.Errorf("fields of the tables %s and %s would both be the metric %s: rename one", other, t.Name, name)
			}
			metrics[name] = t.Name
		}
	}
	return nil
}
