package suite

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/tsmark/tsmark/conformance/meaning"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// meaning: the target answers as the documents of conformance/meaning define. Cases that it
// cannot answer or store are skipped with the reason.
func (s *Suite) meaning(t T) {
	documents, err := meaning.Documents()
	if err != nil {
		t.Fatal(err)
	}
	answered, all := 0, 0
	for _, d := range documents {
		s.sub(t, d.Name, func(t T) {
			if d.Name == "filters.test" && s.recorded() {
				t.Skip("n/a: recordings do not include it")
			}
			if !slices.ContainsFunc(d.Cases, func(c meaning.Case) bool {
				_, err := s.driver.Render(&c.Query, d.Schema(), s.options)
				return !errors.Is(err, query.ErrUnsupported)
			}) {
				t.Skip("n/a: the target answers no case of it")
			}
			if s.finer(d) {
				t.Skipf("n/a: times are multiples of %v", s.caps.TimePrecision)
			}
			if s.caps.Dedupes && !s.caps.Holds(series.RepeatedTimes) && repeats(d) {
				t.Skip("n/a: of different rows of one series and time any one is kept")
			}
			if first := s.caps.First; !first.IsZero() && d.Earliest() < first.UnixNano() {
				all += len(d.Cases)
				t.Skipf("n/a: times begin at %v", first)
			}
			if s.refused(t, d.Schema()) {
				all += len(d.Cases)
				t.Skip("n/a: it cannot store the rows")
			}
			db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
			defer Close(t, db)
			if err := session.New(db).Prepare(t.Context(), d.Schema(), session.Mark{}); err != nil {
				t.Fatal(err)
			}
			var batch series.Batch
			for reader := d.Open(); reader.Next(&batch, 4) == nil; {
				Write(t, db, &batch)
			}
			if err := db.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			querier := Querier(t, db)
			defer Close(t, querier)
			for i := range d.Cases {
				s.sub(t, d.Cases[i].Name, func(t T) {
					all++
					if s.answers(t, d, &d.Cases[i], querier) {
						answered++
					}
				})
			}
		})
	}
	t.Logf("%d of %d cases are answered, the others n/a", answered, all)
	if answered < all/2 {
		t.Errorf("only %d of %d cases are answered", answered, all)
	}
}

// finer reports whether a document has times that are too fine for the target.
func (s *Suite) finer(d *meaning.Document) bool {
	var batch series.Batch
	for reader := d.Open(); reader.Next(&batch, 4) == nil; {
		for i := range batch.Runs {
			if slices.ContainsFunc(batch.Runs[i].Times, func(t int64) bool { return t%int64(s.caps.TimePrecision) != 0 }) {
				return true
			}
		}
	}
	return false
}

// optionInterval is the option, of drivers that have it, with the interval at whose multiples
// all rows are.
const optionInterval = "interval"

// regular returns the options with the interval of a document's times, unless a
// window has too many intervals.
func (s *Suite) regular(d *meaning.Document) driver.Options {
	if !slices.ContainsFunc(s.driver.Options, func(o driver.Option) bool { return o.Name == optionInterval }) {
		return s.options
	}
	all := int64(time.Minute)
	var batch series.Batch
	for reader := d.Open(); reader.Next(&batch, 4) == nil; {
		for i := range batch.Runs {
			for _, at := range batch.Runs[i].Times {
				for at != 0 { // Euclid's
					all, at = at, all%at
				}
			}
		}
	}
	if time.Duration(all) < time.Second {
		return s.options
	}
	options := maps.Clone(s.options)
	options[optionInterval] = time.Duration(all).String()
	return options
}

// repeats reports whether a document has several rows of one series and time.
func repeats(d *meaning.Document) bool {
	type place struct {
		table  *series.Table
		series uint32
		time   int64
	}
	seen := map[place]bool{}
	var batch series.Batch
	for reader := d.Open(); reader.Next(&batch, 4) == nil; {
		for i := range batch.Runs {
			run := &batch.Runs[i]
			for row := range run.Times {
				at := place{run.Table, run.Series[row], run.Times[row]}
				if seen[at] {
					return true
				}
				seen[at] = true
			}
		}
	}
	return false
}

// answers holds the target to one case, and reports whether it can answer it.
func (s *Suite) answers(t T, d *meaning.Document, c *meaning.Case, querier driver.Querier) bool {
	request, err := s.driver.Render(&c.Query, d.Schema(), s.regular(d))
	if errors.Is(err, query.ErrUnsupported) {
		t.Skipf("n/a: %v", err)
	}
	if err != nil {
		t.Fatalf("%s:%d: %v", d.Name, c.Line, err)
	}
	if _, ok := c.Query.AsPromQL(); ok && s.driver.Semantics != "" {
		t.Skip("n/a: the system documents other meanings")
	}
	var found query.Answer
	_, err = querier.Do(t.Context(), request, &found)
	if s.isKnownFault(t, err) {
		return true
	}
	if errors.Is(err, query.ErrUnsupported) { // by the server's version
		t.Skipf("n/a: %v", err)
	}
	if err != nil {
		t.Fatalf("%s:%d: %v\n%s", d.Name, c.Line, err, request.Text)
	}
	if problem := d.Check(c, &found, s.caps.Dedupes); problem != "" {
		t.Errorf("%s\n%s", problem, request.Text)
	}
	return true
}
