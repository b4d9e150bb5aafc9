package postgres

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver/sqlkit"
)

// tagsWriter makes the rows of a table of series.
type tagsWriter struct {
	*sqlkit.Claims
	rows  []string // of the batch at work, as SQL
	value []byte
}

func newTagsWriter(t *sqlkit.Tags) *tagsWriter { return &tagsWriter{Claims: t.NewClaims()} }

// introduce adds the rows of those series that have none yet.
func (t *tagsWriter) introduce(numbers []uint32) error {
	return t.Introduce(numbers, func(s uint32) error {
		values := []string{fmt.Sprint(s)}
		for i := range t.Tags.Tags {
			var ok bool
			if t.value, ok = t.Tags.Tags[i].Values.Append(t.value[:0], s); !ok {
				values = append(values, "NULL")
				continue
			}
			values = append(values, Literal(string(t.value)))
		}
		t.rows = append(t.rows, "("+strings.Join(values, ", ")+")")
		return nil
	})
}

// statement returns the INSERT of the rows, if there are any. A row that an
// earlier try has stored stays.
func (t *tagsWriter) statement() string {
	if len(t.rows) == 0 {
		return ""
	}
	text := fmt.Sprintf("INSERT INTO %s VALUES %s ON CONFLICT DO NOTHING", Quoted(t.Name), strings.Join(t.rows, ", "))
	t.rows = t.rows[:0]
	return text
}

// abandon takes back what was not committed.
func (t *tagsWriter) abandon() {
	t.rows = t.rows[:0]
	t.Release()
}
