package iotdb

import (
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Values lie within their types, by formula and from the buffer: singles are
// singles, timestamps whole milliseconds, texts have a text.
func TestValuesAreOfTheirType(t *testing.T) {
	for _, source := range []string{byFormula, sharedBuffer} {
		spec := base()
		spec.Settings["iotdb.sensors"], spec.Settings["iotdb.types"], spec.Settings["iotdb.values"] = "40", "1:1:1:1:1:1:1:1:1:1", source
		spec.Settings["iotdb.text-length"] = "3"
		d := dataset(t, spec)
		reader, seen := d.Open(), map[series.Type]int{}
		var b series.Batch
		for {
			err := reader.Next(&b, 1000)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Runs {
				for f, field := range b.Runs[i].Table.Fields {
					c := &b.Runs[i].Columns[f]
					for _, v := range c.Ints {
						if !fits(field, v) {
							t.Fatalf("%s: %s of type %v is %d", source, field.Name, field.Type, v)
						}
						seen[field.Type]++
					}
					for _, v := range c.Floats {
						if field.Type == series.Float32 && float64(float32(v)) != v {
							t.Fatalf("%s: %s is %v, which is not a float32", source, field.Name, v)
						}
						seen[field.Type]++
					}
				}
			}
		}
		for _, kind := range series.Types() {
			if seen[kind] == 0 {
				t.Errorf("%s: no value of type %v", source, kind)
			}
		}
	}
}

// Ten sensors of ten types in equal shares have one type each.
func TestSharesOfTypes(t *testing.T) {
	spec := base()
	spec.Settings["iotdb.sensors"], spec.Settings["iotdb.types"] = "10", "1:1:1:1:1:1:1:1:1:1"
	sensors := dataset(t, spec).sensors
	for i := range sensors {
		if sensors[i].kind != valueType(i) {
			t.Errorf("sensor %d is of type %s, want %s", i, typeNames[sensors[i].kind], typeNames[i])
		}
	}
}

// fits reports whether a number stands for a value of a field.
func fits(f series.Field, v int64) bool {
	switch f.Type {
	case series.Bool:
		return v == 0 || v == 1
	case series.Int32:
		return v >= math.MinInt32 && v <= math.MaxInt32
	case series.Timestamp:
		return v%int64(time.Millisecond) == 0
	case series.Date:
		return v >= math.MinInt16 && v <= math.MaxInt16
	case series.Text, series.Blob:
		return f.Length == 3 && v >= 0 && v < series.Texts(3)
	}
	return f.Length == 0
}
