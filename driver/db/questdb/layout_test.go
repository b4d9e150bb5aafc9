package questdb

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/series"
)

func TestTables(t *testing.T) {
	table := &series.Table{
		Name:   "order",
		Tags:   []series.Tag{{Key: "host"}, {Key: "Data-center"}, {Key: "weight", Type: series.Float}},
		Fields: []series.Field{{Name: "load.1", Type: series.Int}, {Name: "share", Type: series.Float}},
	}
	schema := &series.Schema{Tables: []*series.Table{table}}
	const columns = `CREATE TABLE "order" (timestamp TIMESTAMP, host SYMBOL, "Data_center" SYMBOL, weight DOUBLE, load_1 LONG, share DOUBLE) TIMESTAMP(timestamp) `
	for want, pairs := range map[string][]string{
		columns + "PARTITION BY DAY WAL": nil,
		columns + `PARTITION BY HOUR WAL DEDUP UPSERT KEYS(timestamp, host, "Data_center", weight)`: {optionPartitionBy, "hour", optionDedup, "tags"},
		strings.ReplaceAll(columns, "SYMBOL", "SYMBOL INDEX") + "PARTITION BY YEAR WAL":             {optionPartitionBy, "year", optionIndex, "true"},
		columns + "PARTITION BY DAY WAL DEDUP UPSERT KEYS(timestamp, host)":                         {optionDedup, "host"},
		columns + "PARTITION BY NONE BYPASS WAL":                                                    {optionPartitionBy, "none", optionWAL, "false", optionProtocol, "tcp"},
	} {
		s, err := resolve(t, "", pairs...)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.tables.ddl(table); s.tables.check(schema) != nil || got != want {
			t.Errorf("%v, %v: got %s, want %s", pairs, s.tables.check(schema), got, want)
		}
	}
}

// A boolean is an INT where it may be NULL.
func TestColumnsOfTypes(t *testing.T) {
	table := conformance.Table(make([]string, len(series.Types()))...)
	for i, kind := range series.Types() {
		table.Fields[i] = series.Field{Name: "a_" + kind.String(), Type: kind}
	}
	for _, test := range []struct {
		dense bool
		bool  string
	}{{true, "BOOLEAN"}, {false, "INT"}} {
		table.Dense = test.dense
		s := tableSettings{partitionBy: "DAY", wal: true, dedup: dedupOff}
		want := "a_bool " + test.bool + ", a_int32 INT, a_int LONG, a_float32 FLOAT, a_float DOUBLE, a_text VARCHAR, a_timestamp TIMESTAMP, a_date DATE, a_blob VARCHAR)"
		if got := s.ddl(table); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		// Lines of TSBS's format would say other times, and other booleans.
		plain := *table
		plain.Fields = table.Fields[:6] // up to the text
		for of, takes := range map[*series.Table]bool{table: false, &plain: test.dense} {
			if got := new(database).TakesLines("influx", &series.Schema{Tables: []*series.Table{of}}); got != takes {
				t.Errorf("takes lines of %d fields, dense %v: %v, want %v", len(of.Fields), test.dense, got, takes)
			}
		}
	}
}

func TestTablesThatCannotBe(t *testing.T) {
	field := func(names ...string) *series.Table { return conformance.Table(names...) }
	again := field("x")
	again.Name = "CPU"
	mark := field("x")
	mark.Name = "tsmark_mark"
	for want, tables := range map[string][]*series.Table{
		"two tables or indexes would be called CPU":                 {field("x"), again},
		"two tables or indexes would be called tsmark_mark":         {mark},
		"two columns of table cpu would be called A_b":              {field("a.b", "A-b")},
		"two columns of table cpu would be called Timestamp":        {field("Timestamp")},
		"option dedup=rack: table cpu has no such tag; name one th": {field("y")},
	} {
		s := tableSettings{partitionBy: "DAY", wal: true, dedup: dedupOff}
		if strings.Contains(want, "dedup") {
			s.dedup = "rack"
		}
		stub.Says(t, s.check(&series.Schema{Tables: tables, Series: 1}), want)
	}
}
