package jsonrows_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// columns makes types of the names of a system's types.
var columns = map[string]jsonrows.Type{"TIMESTAMP": jsonrows.Time, "DateTime64(9)": jsonrows.Time, "Float64": jsonrows.Float, "DOUBLE": jsonrows.Float}

// readType reads the name of a type as that of the next column.
func readType(r *jsonrows.Reader) func() error {
	return func() error {
		name, err := r.Text()
		r.Columns = append(r.Columns, columns[name])
		return err
	}
}

// members reads an object in which one member has the columns, and one the rows.
func members(r *jsonrows.Reader, names string, column func() error, rows string) func() error {
	return func() error {
		return r.Object(func(name string) error {
			switch name {
			case names:
				return r.Array(column)
			case rows:
				return r.Array(r.Row)
			}
			return r.Skip()
		})
	}
}

// Answers of systems that put columns and rows elsewhere are read by a few lines
// each, and are cut off wherever they end too early.
func TestSystems(t *testing.T) {
	at := query.Value{Kind: query.Time, Int: time.Date(2016, 1, 1, 0, 0, 0, 1e6, time.UTC).UnixNano()}
	for name, test := range map[string]struct {
		text   string
		answer func(*jsonrows.Reader) func() error
		want   [][]query.Value
	}{
		"ClickHouse, JSONCompactEachRowWithNamesAndTypes": {
			`["t", "h", "v"]` + "\n" + `["DateTime64(9)", "String", "Float64"]` + "\n" + `["2016-01-01 00:00:00.001000000", "a,\"]", 1]` + "\n" + `["2016-01-01 00:00:00.001000000", "", null]` + "\n",
			func(r *jsonrows.Reader) func() error {
				line := 0
				return func() error {
					return r.Documents(func() error {
						switch line++; line {
						case 1:
							return r.Skip()
						case 2:
							return r.Array(readType(r))
						}
						return r.Row()
					})
				}
			},
			[][]query.Value{conformance.Row(at, `a,"]`, 1.0), conformance.Row(at, "", nil)},
		},
		"TDengine, REST": {
			`{"code":0,"column_meta":[["ts","TIMESTAMP",8],["h","VARCHAR",9],["v","DOUBLE",8]],"data":[["2016-01-01T00:00:00.001Z","a",1.5]],"rows":1}`,
			func(r *jsonrows.Reader) func() error {
				return members(r, "column_meta", func() error {
					part := 0
					return r.Array(func() error {
						if part++; part == 2 {
							return readType(r)()
						}
						return r.Skip()
					})
				}, "data")
			},
			[][]query.Value{conformance.Row(at, "a", 1.5)},
		},
		"IoTDB, REST": {
			`{"column_names":["t","h","v"],"data_types":["TIMESTAMP","STRING","DOUBLE"],"values":[["2016-01-01T00:00:00.001Z","a",-0.0],["2016-01-01T00:00:00.001Z",null,2]]}`,
			func(r *jsonrows.Reader) func() error { return members(r, "data_types", readType(r), "values") },
			[][]query.Value{conformance.Row(at, "a", math.Copysign(0, -1)), conformance.Row(at, nil, 2.0)},
		},
		"labels of series": {
			`[{"labels":{"a":"1","b":""},"rows":[[1000000, 1],[ 2 , 2.5 ]]},{"labels":{"a":"3","b":"4"},"rows":[[3,1e2]]}]`,
			func(r *jsonrows.Reader) func() error {
				r.EmptyIsNull = true
				return func() error {
					return r.Array(func() error {
						r.NoLabels()
						r.Columns, r.LabelsBehind = append(r.Columns[:0], jsonrows.Nanoseconds, jsonrows.Number), 1
						return r.Object(func(name string) error {
							if name == "labels" {
								return r.Object(func(string) error { return r.Label() })
							}
							return r.Array(r.Row)
						})
					})
				}
			},
			[][]query.Value{
				conformance.Row(query.Value{Kind: query.Time, Int: 1e6}, "1", nil, 1), conformance.Row(query.Value{Kind: query.Time, Int: 2}, "1", nil, 2.5),
				conformance.Row(query.Value{Kind: query.Time, Int: 3}, "3", "4", 100.0),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &jsonrows.Reader{System: "Stub", Timeout: "limit"}
			var got query.Answer
			cost, err := r.Read(strings.NewReader(test.text), &got, test.answer(r))
			if err != nil || cost.Rows != int64(len(test.want)) || cost.Bytes != int64(len(test.text)) {
				t.Fatal(cost, err)
			}
			conformance.CheckRows(t, got.Rows, test.want...)
			if cost, err := r.Read(strings.NewReader(test.text), nil, test.answer(r)); err != nil || cost.Rows != int64(len(test.want)) {
				t.Errorf("counted alone: %+v, %v", cost, err)
			}
			for n := range len(test.text) {
				_, err := r.Read(strings.NewReader(test.text[:n]), nil, test.answer(r))
				if whole := strings.HasSuffix(strings.TrimSpace(test.text[:n]), "]") && test.text[0] == '[' && err == nil; !whole && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%q: %v", test.text[:n], err)
				}
			}
		})
	}
}

// The types of columns say what JSON does not.
func TestTypes(t *testing.T) {
	const text = `9007199254740993`
	for kind, want := range map[jsonrows.Type]any{
		jsonrows.Number: int64(9007199254740993), jsonrows.Int: int64(9007199254740993), jsonrows.Float: 9007199254740992.0,
		jsonrows.Float32: 9007199254740992.0, jsonrows.Count: int64(9007199254740993), jsonrows.Nanoseconds: query.Value{Kind: query.Time, Int: 9007199254740993},
	} {
		row, err := read(kind, text)
		if err != nil {
			t.Error(err)
		}
		conformance.CheckRows(t, [][]query.Value{row}, conformance.Row(want))
	}
	for _, test := range []struct {
		kind jsonrows.Type
		text string
		want any // an error's text where it begins with "error: "
	}{
		{jsonrows.Count, "null", 0}, {jsonrows.Number, "null", nil}, {jsonrows.Number, "true", 1}, {jsonrows.Int, "false", 0},
		{jsonrows.Number, "123456789012345678901", 123456789012345678901.0}, {jsonrows.Float32, "0.1", float64(float32(0.1))},
		{jsonrows.Int, `"a\u00e9\n"`, "aé\n"}, {jsonrows.Number, "1E2", 100.0},
		{jsonrows.Int, "123456789012345678901", "error: is not a 64-bit integer"}, {jsonrows.Float, "1e999", "error: 1e999: out of range"},
		{jsonrows.Hex, `"00ff7A"`, "\x00\xffz"},
		{jsonrows.Hex, `"0g"`, "error: column 1 of row 1 of the answer: encoding/hex: invalid byte: U+0067 'g'"},
		{jsonrows.Time, `"yesterday"`, "error: column 1 of row 1 of the answer: \"yesterday\" is not a time"},
		{jsonrows.Number, "[1]", "error: is this Stub?"}, {jsonrows.Number, `{"a":"]"}`, "error: is this Stub?"},
	} {
		row, err := read(test.kind, test.text)
		if says, ok := test.want.(string); ok && strings.HasPrefix(says, "error: ") {
			stub.Says(t, err, strings.TrimPrefix(says, "error: "))
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		conformance.CheckRows(t, [][]query.Value{row}, conformance.Row(test.want))
	}
}

// read reads a row of one value.
func read(kind jsonrows.Type, text string) ([]query.Value, error) {
	r := &jsonrows.Reader{System: "Stub"}
	var got query.Answer
	_, err := r.Read(strings.NewReader("["+text+"]"), &got, func() error {
		r.Columns = append(r.Columns, kind)
		return r.Row()
	})
	if err != nil {
		return nil, err
	}
	return got.Rows[0], nil
}

// TestWrongAnswers checks that a malformed response leads to a one-line error.
func TestWrongAnswers(t *testing.T) {
	for text, says := range map[string]string{
		`{"rows":[]}`: "is this Stub?", `[1]`: "the answer has number where a row was expected", `[[1,2]]`: "more values than there are columns",
		`[[]]`: "0 values in 1 columns", `<html>`: "invalid character", ``: "cut off after 0 rows: the server or the connection broke down, or its limit is over",
	} {
		r := &jsonrows.Reader{System: "Stub", Timeout: "limit"}
		_, err := r.Read(strings.NewReader(text), new(query.Answer), func() error {
			r.Columns = append(r.Columns, jsonrows.Number)
			return r.Array(r.Row)
		})
		stub.Says(t, err, says)
	}
}

// TestReadAgain checks that a value does not carry over from the previous row or response.
func TestReadAgain(t *testing.T) {
	r := &jsonrows.Reader{System: "Stub"}
	for range 2 {
		rows := 0
		_, err := r.Read(strings.NewReader(`["a"]["b"]`), query.SinkFunc(func(row []query.Value) error {
			if len(row) != 1 || string(row[0].Text) != []string{"a", "b"}[rows] {
				t.Errorf("row %d: %v", rows, row)
			}
			rows++
			return nil
		}), func() error {
			r.Columns = append(r.Columns, jsonrows.Number)
			return r.Documents(r.Row)
		})
		if err != nil || rows != 2 {
			t.Errorf("%d rows, %v", rows, err)
		}
	}
}

// Whatever a server answers, it is read or refused.
func FuzzRow(f *testing.F) {
	f.Add([]byte(`[1, "a\"]" ,null,true,[1],{"a":[]}]`))
	f.Add([]byte("[\"2016-01-01T00:00:00Z\"]\n[-0.0e5]"))
	r := &jsonrows.Reader{System: "Stub"}
	f.Fuzz(func(_ *testing.T, text []byte) {
		for kind := jsonrows.Number; kind <= jsonrows.Hidden; kind++ {
			_, _ = r.Read(strings.NewReader(string(text)), new(query.Answer), func() error {
				r.Columns = append(r.Columns, kind, kind)
				return r.Documents(r.Row)
			})
		}
	})
}

// Times are those of the standard library, which takes more forms.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2016-01-01T00:00:00.000000Z", "1970-01-01T00:00:00.001Z", "2016-02-29T23:59:59.123456789Z", "2016-01-01T00:00:00Z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := jsonrows.ParseTime([]byte(s))
		want, wrong := time.Parse("2006-01-02T15:04:05.999999999Z", s)
		if err == nil && wrong == nil && got != want.UnixNano() {
			t.Errorf("%q: %d, want %d", s, got, want.UnixNano())
		}
	})
}
