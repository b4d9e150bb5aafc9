package iotdb

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/series"
)

// The numbers of IoTDB's types.
const (
	dataBoolean   = 0
	dataInt32     = 1
	dataInt64     = 2
	dataFloat     = 3
	dataDouble    = 4
	dataText      = 5
	dataTimestamp = 8
	dataDate      = 9
	dataBlob      = 10
	dataString    = 11
)

// numbers are the numbers of the types that tsmark writes.
var numbers = map[string]int32{
	"BOOLEAN": dataBoolean, "INT32": dataInt32, "INT64": dataInt64, "FLOAT": dataFloat, "DOUBLE": dataDouble,
	"TEXT": dataText, "TIMESTAMP": dataTimestamp, "DATE": dataDate, "BLOB": dataBlob, "STRING": dataString,
}

// types are the measurements of fields. A TIMESTAMP has the precision of the server's times: only
// nanoseconds represent every time.
func types(o driver.Options) map[series.Type]driver.Stored {
	held := map[series.Type]driver.Stored{
		series.Bool:      {As: "BOOLEAN"},
		series.Int32:     {As: "INT32"},
		series.Int:       {As: "INT64"},
		series.Float32:   {As: "FLOAT"},
		series.Float:     {As: "DOUBLE"},
		series.Text:      {As: "TEXT"},
		series.Timestamp: {As: "TIMESTAMP"},
		series.Date:      {As: "DATE"},
		series.Blob:      {As: "BLOB"},
	}
	if units[o[optionPrecision]] != time.Nanosecond {
		held[series.Timestamp] = driver.Stored{As: "INT64", Mapped: "as nanoseconds since 1970, because a TIMESTAMP is not finer than the server's times"}
	}
	return held
}

// Names reserved for tsmark.
const (
	note        = "tsmark_mark" // a device, or a table
	noteContent = "content"     // its measurement
	rowName     = "tsmark_row"  // a measurement of each row of a device: see witness
)

// witness returns the measurement that every row has, whatever its other values: the tree model has
// values rather than rows. Tables in which every row has a value of the first field need no additional
// measurement.
func witness(t *series.Table) string {
	if !hasRowName(t) {
		return t.Fields[0].Name
	}
	return rowName
}

// hasRowName reports whether rows have the measurement rowName.
func hasRowName(t *series.Table) bool {
	if !t.Dense {
		return true
	}
	for _, width := range t.Widths {
		if width == 0 {
			return true
		}
	}
	return false
}

// measurement is a measurement of a device.
type measurement struct{ name, kind string }

// measurements returns the measurements of devices that have some of a table's fields, in the order of
// tablets.
func measurements(t *series.Table, fields []series.Field, held map[series.Type]driver.Stored) (all []measurement) {
	_, numeric := split(t)
	for _, tag := range numeric {
		all = append(all, measurement{tag.Key, "DOUBLE"})
	}
	for _, f := range fields {
		all = append(all, measurement{f.Name, held[f.Type].As})
	}
	if hasRowName(t) {
		all = append(all, measurement{rowName, "BOOLEAN"})
	}
	return all
}

// split separates a table's tags: texts, which identify series, and numbers, which are measurements.
func split(t *series.Table) (texts, numeric []*series.Tag) {
	for i := range t.Tags {
		if tag := &t.Tags[i]; tag.Numeric() {
			numeric = append(numeric, tag)
		} else {
			texts = append(texts, tag)
		}
	}
	return texts, numeric
}

// check returns an error for the parts of a schema that IoTDB cannot store.
func check(o driver.Options, s *series.Schema) error {
	m, inTables := newModel(o), o[optionModel] == modelTable
	fold, own := func(name string) string { return name }, []string{"time", "timestamp"}
	if inTables {
		fold, own = strings.ToLower, own[:1]
	}
	switch {
	case o[connection.Database] == "":
		return fmt.Errorf("give a name of a database by the option %s", connection.Database)
	case inTables && (o[optionAligned] != "true" || o[optionCompression] != "" || o[optionSchema] != schemaAuto):
		return fmt.Errorf("%s, %s and %s are for %s=%s: tables have none of them", optionAligned, optionCompression, optionSchema, optionModel, modelTree)
	}
	tables := map[string]bool{note: true}
	for _, t := range s.Tables {
		switch name := m.objectName(t.Name); {
		case name == note:
			return fmt.Errorf("a table is called %s, which is tsmark's own: rename it", t.Name)
		case tables[name]:
			return fmt.Errorf("two tables would be called %s: rename one", name)
		case name == "" || strings.ContainsAny(name, "\n\x00"):
			return fmt.Errorf("IoTDB has no path or table called %q: rename the table", t.Name)
		case !inTables && reservedNode(name):
			return fmt.Errorf("IoTDB reserves the name %s in paths: rename the table, or choose %s=%s", name, optionModel, modelTable)
		}
		tables[m.objectName(t.Name)] = true
		taken := map[string]bool{}
		for _, name := range own {
			taken[name] = true
		}
		for _, name := range t.ColumnNames() {
			key := fold(name)
			if lower := strings.ToLower(name); slices.Contains(own, lower) {
				key = lower
			}
			switch {
			case name == "" || strings.ContainsAny(name, "\n\x00"):
				return fmt.Errorf("table %s has a tag or field called %q, which IoTDB cannot have: rename it", t.Name, name)
			case !inTables && slices.ContainsFunc(measurements(t, t.Fields, nil), func(m measurement) bool { return m.name == name && strings.EqualFold(name, "root") }):
				return fmt.Errorf("table %s has a field or numeric tag called %s, a name that IoTDB reserves in paths: rename it, or choose %s=%s", t.Name, name, optionModel, modelTable)
			case key == rowName && !inTables:
				return fmt.Errorf("table %s has a tag or field called %s, which is tsmark's own: rename it", t.Name, name)
			case taken[key]:
				return fmt.Errorf("two tags or fields of table %s would be called %s, or IoTDB calls times so: rename one", t.Name, name)
			}
			taken[key] = true
		}
	}
	return nil
}
