package questdb

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/query"
)

func readAnswer(text string) ([][]query.Value, error) {
	var answer query.Answer
	e := newExec(&settings{})
	_, err := e.Read(strings.NewReader(text), &answer, e.Answer)
	return answer.Rows, err
}

// Every value comes as it was stored.
func TestValues(t *testing.T) {
	got, err := readAnswer(`{"query":"x","columns":[{"name":"a","type":"LONG","dim":1},{"name":"b","type":"DOUBLE"},{"type":"TIMESTAMP"},
		{"type":"SYMBOL"},{"type":"BOOLEAN"},{"type":"INT"},{"type":"TIMESTAMP_NS"},{"type":"DATE"}],"timestamp":2,"dataset":[
		[9223372036854775807,5.0E-324,"2016-01-01T00:00:00.000001Z","é\"\\\n","",-1,"2016-01-01T00:00:00.000000001Z","2016-01-01T00:00:00.001Z"],
		[-9223372036854775807,1.7976931348623157E308,"1970-01-01T00:00:00.000000Z","",true,0,null,null],
		[null,-0.0,null,null,false,null,null,null]],"count":3,"timings":{"x":[1,{}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	at := func(ns int64) query.Value { return query.Value{Kind: query.Time, Int: ns} }
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	conformance.CheckRows(t, got,
		conformance.Row(int64(math.MaxInt64), 5e-324, at(start+1000), "é\"\\\n", "", -1, at(start+1), at(start+1e6)),
		conformance.Row(int64(math.MinInt64+1), math.MaxFloat64, at(0), "", 1, 0, nil, nil),
		conformance.Row(nil, math.Copysign(0, -1), nil, nil, 0, nil, nil, nil))
}

const whole = `{"query":"x","columns":[{"name":"a","type":"LONG"}],"timestamp":-1,"dataset":[[1],[2]],"count":2}`

// However an answer is cut off, it is an error, never a short answer.
func TestCutAnswers(t *testing.T) {
	for n := range len(whole) {
		if _, err := readAnswer(whole[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", whole[:n], err)
		}
	}
	if rows, err := readAnswer(whole); err != nil || len(rows) != 2 {
		t.Error(rows, err)
	}
}

func TestWrongAnswers(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(whole, `"count":2`, `"count":3`, 1):           "the answer has 2 rows and says that it has 3",
		`{"query":"x","error":"timeout, query aborted","position":7}`: "timeout, query aborted",
		strings.Replace(whole, "[2]", "[2,3]", 1):                     "more values than there are columns",
		strings.Replace(whole, "[2]", "[]", 1):                        "0 values in 1 columns",
		strings.Replace(whole, "[2]", `["x"]`, 1):                     "OK: a text",
		strings.Replace(whole, "[2]", `[{}]`, 1):                      "which tsmark does not read",
		strings.Replace(whole, "[2]", `[2.5]`, 1):                     "column 1 of row 2 of the answer: 2.5 is not a 64-bit integer",
		strings.Replace(whole, `"LONG"`, `"TIMESTAMP"`, 1):            "OK: a number",
		`[]`: "is this QuestDB?",
	} {
		_, err := readAnswer(text)
		if strings.HasPrefix(want, "OK") {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		stub.Says(t, err, want)
	}
}

func TestSinkEndsAnAnswer(t *testing.T) {
	full := errors.New("full")
	e := newExec(&settings{})
	_, err := e.Read(strings.NewReader(whole), query.SinkFunc(func([]query.Value) error { return full }), e.Answer)
	if !errors.Is(err, full) {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add(strings.Replace(whole, "LONG", "TIMESTAMP", 1))
	f.Fuzz(func(_ *testing.T, s string) { _, _ = readAnswer(s) })
}
