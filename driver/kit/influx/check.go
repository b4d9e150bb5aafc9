package influx

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// CheckSchema returns an error for names that InfluxDB does not allow.
func CheckSchema(s *series.Schema) error {
	for _, t := range s.Tables {
		switch {
		case t.Name == Note:
			return fmt.Errorf("a table is called %s, which is tsmark's own: rename it", t.Name)
		case t.Name == "" || strings.ContainsAny(t.Name, "=\n") || strings.HasPrefix(t.Name, "#") || series.Ambiguous([]byte(t.Name)):
			return fmt.Errorf("a table is called %q, which no measurement can be in line protocol: rename it", t.Name)
		}
		taken := map[string]bool{"time": true}
		for _, name := range t.ColumnNames() {
			switch {
			case taken[name]:
				return fmt.Errorf("two tags or fields of table %s are called %s, or it has the name of the time: rename one", t.Name, name)
			case name == "" || strings.Contains(name, "\n") || series.Ambiguous([]byte(name)):
				return fmt.Errorf("table %s has a tag or field called %q, which line protocol cannot say: rename it", t.Name, name)
			case strings.HasPrefix(name, OwnPrefix):
				return fmt.Errorf("table %s has a tag or field called %s; what begins with %s is tsmark's own: rename it", t.Name, name, OwnPrefix)
			}
			taken[name] = true
		}
	}
	return nil
}
