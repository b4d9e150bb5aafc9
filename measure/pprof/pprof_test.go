package pprof

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/pprof/profile"
)

// Samples count for the function that ran and, once, for each that called it.
func TestRead(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}}
	location := func(name string) *profile.Location {
		f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
		l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		return l
	}
	main, scan, read := location("main.main"), location("github.com/x/db/storage.(*Index).scan"), location("runtime.memmove")
	sample := func(n int64, stack ...*profile.Location) {
		p.Sample = append(p.Sample, &profile.Sample{Value: []int64{n, n * 10_000_000}, Location: stack})
	}
	sample(6, read, scan, main)
	sample(3, scan, scan, main) // a recursion
	sample(1, main)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	samples, list, err := Read(b.Bytes(), 10)
	if got, want := fmt.Sprint(samples, list, err), "10 [{runtime.memmove 0.6 0.6} {storage.(*Index).scan 0.3 0.9} {main.main 0.1 1}] <nil>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, list, _ := Read(b.Bytes(), 1); fmt.Sprint(list) != "[{runtime.memmove 0.6 0.6} {main.main 0.1 1}]" {
		t.Errorf("the first by each share: %v", list)
	}
	if _, _, err := Read([]byte("no profile"), 1); err == nil {
		t.Error("no error for a text")
	}
}
