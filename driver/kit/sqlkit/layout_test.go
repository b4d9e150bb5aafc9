package sqlkit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// design declares tables in words.
func design(d *sql.Dialect) *sqlkit.Design {
	d.Name = "Base"
	return &sqlkit.Design{
		Dialect: d, Time: "moment", Series: "number", Key: "key", Text: "text", Number: "double",
		Fields: map[series.Type]driver.Stored{series.Int: {As: "bigint"}, series.Float: {As: "double"}, series.Text: {As: "text"}},
		Make: func(t *sqlkit.Table, columns []string) {
			t.Make = []string{fmt.Sprintf("%s by %s (%s)", t.Name, t.By, strings.Join(columns, ", "))}
		},
	}
}

func schemaOf(name string, fields ...series.Field) *series.Schema {
	tags := []series.Tag{{Key: "host"}, {Key: "height", Type: series.Float}}
	return &series.Schema{Series: 3, Tables: []*series.Table{{Name: name, Tags: tags, Fields: fields}}}
}

// Each layout has its tables and columns.
func TestLayout(t *testing.T) {
	s := schemaOf("cpu", series.Field{Name: "a", Type: series.Text}, series.Field{Name: "b", Type: series.Int}, series.Field{Name: "c", Type: series.Float})
	for want, d := range map[string]*sql.Dialect{
		"cpu by tags_id (time moment, tags_id number, a text, b bigint, c double); tags by host (id key, host text, height double)": {},
		"cpu by host (at moment, host text, height double, a text, b bigint, c double)":                                             {Wide: true, TimeName: "at"},
		"cpu by tags_id (time moment, tags_id number, field text NOT NULL, value double, whole bigint, text text); " +
			"tags by host (id key, host text, height double)": {Narrow: true, Integers: true},
	} {
		l, err := design(d).Layout(s)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, table := range l.Tables {
			got = append(got, table.Make...)
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
}

// What a database cannot have is told, with what helps.
func TestLayoutThatDoesNotFit(t *testing.T) {
	ab := []series.Field{{Name: "a"}, {Name: "A"}}
	for says, c := range map[string]struct {
		s *series.Schema
		d func(*sqlkit.Design)
	}{
		"": {schemaOf("cpu", ab...), func(*sqlkit.Design) {}},
		"two columns of table cpu would be called A; rename a tag or field, or choose layout=narrow": {schemaOf("cpu", ab...), func(d *sqlkit.Design) {
			d.Dialect.Folds, d.Instead = true, "layout=narrow"
		}},
		"two columns of table cpu would be called time; rename a tag or field": {schemaOf("cpu", series.Field{Name: "time"}), func(*sqlkit.Design) {}},
		"table cpu would have 4 columns, and Base takes 3; give it fewer tags and fields": {schemaOf("cpu", ab...), func(d *sqlkit.Design) {
			d.MaxColumns = 3
		}},
		"table processor: Base cuts names at 8 bytes; shorten it": {schemaOf("processor"), func(d *sqlkit.Design) { d.MaxName = 8 }},
		"column user_time of table cpu: Base cuts names at 8 bytes; shorten it": {schemaOf("cpu", series.Field{Name: "user_time"}), func(d *sqlkit.Design) {
			d.MaxName = 8
		}},
		"two tables or indexes would be called tags: rename a table of the workload": {schemaOf("tags"), func(*sqlkit.Design) {}},
	} {
		d := design(new(sql.Dialect))
		c.d(d)
		if err := d.Check(c.s); err == nil && says != "" || err != nil && err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
