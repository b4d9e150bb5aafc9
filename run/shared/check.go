package shared

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
)

// Limits for the results of an agent's part.
const (
	mostFigures  = 1 << 30 // bytes after the log
	mostText     = 1 << 20
	mostQuantity = 1e18 // rows, bytes, rates
	timeSlack    = time.Minute
)

// checkResult returns an error unless an agent can have measured the results of its part. It runs
// before the results are joined, because a joined share cannot be removed again. elapsed is the
// time since the part was sent.
func (p *phase) checkResult(job string, r *shareResult, log *oplog.Reader, elapsed time.Duration) error {
	for name, reported := range map[string]bool{
		jobLoad: r.Load != nil, jobMixed: r.Mixed != nil || len(r.Journal) > 0, jobQueries: r.Queries != nil || len(r.Taken) > 0, jobCalibrate: r.Calibration != nil,
	} {
		if reported && name != job && !(name == jobLoad && job == jobRest) {
			return fmt.Errorf("figures of a part %s, and it did a part %s", name, job)
		}
	}
	if err := checkNumbers(reflect.ValueOf(r)); err != nil {
		return err
	}
	if r.Start < 0 || r.Start > elapsed+timeSlack || r.Done < 0 || r.RowsRead < 0 {
		return errors.New("impossible figures")
	}
	if err := p.checkTypes(r); err != nil {
		return err
	}
	if log == nil {
		return nil
	}
	most := p.mostWorkers()
	for op, err := range log.All() {
		switch {
		case err != nil:
			return fmt.Errorf("its operations: %w", err)
		case op.Worker > most || // dropped operations have one more worker number
			int(op.Outcome) >= len(p.into[0].tally.Outcomes):
			return fmt.Errorf("an operation of worker %d with outcome %d", op.Worker, op.Outcome)
		case isOutside(elapsed, op.Start, op.Intended, op.Start+op.Duration, op.Start+op.Sent, op.Lag) || op.Duration < 0 || op.Sent < 0:
			return errors.New("an operation at a time when it cannot have been")
		case op.Sequence < 0 || op.Query < 0 || min(op.Rows, op.Bytes, op.Values) < 0 || max(op.Rows, op.Bytes, op.Values) > mostQuantity/1e3:
			return errors.New("an operation with impossible figures")
		}
		if c := log.Cells()[op.Cell]; job != jobMixed && c.Kind != p.into[0].tally.Cell.Kind {
			return fmt.Errorf("operations of kind %v in a part %s", c.Kind, job)
		}
	}
	return nil
}

// isOutside reports whether a time since the start of an agent's log is impossible.
func isOutside(elapsed time.Duration, times ...time.Duration) bool {
	for _, t := range times {
		if t < -timeSlack || t > elapsed+timeSlack {
			return true
		}
	}
	return false
}

// mostWorkers returns the maximum number of workers of a share, of all kinds.
func (p *phase) mostWorkers() uint32 {
	n := 0
	for _, j := range p.into {
		n += j.tally.Cell.Workers
	}
	return uint32(max(n, 1))
}

// checkTypes decodes an agent's recorded answers, and checks the indexes of their queries.
func (p *phase) checkTypes(r *shareResult) (err error) {
	if len(r.Taken) > 0 {
		if r.answers, err = record.ReadAnswers(bytes.NewReader(r.Taken)); err != nil {
			return fmt.Errorf("its answers: %w", err)
		}
		r.Taken = nil
		if err := checkAnswers(r.answers, p.places(0)); err != nil {
			return err
		}
	}
	if q := r.Queries; q != nil {
		if _, err := result.MergedLatency(&q.Service, &q.Service); err != nil {
			return fmt.Errorf("its latencies: %w", err)
		}
	}
	if r.Mixed == nil {
		return nil
	}
	if len(r.Mixed.Types) > len(p.into)-1 {
		return fmt.Errorf("%d query types, and there are %d", len(r.Mixed.Types), len(p.into)-1)
	}
	latencies := []*result.Latency{r.Mixed.Lag, r.Mixed.Lag}
	for i := range r.Mixed.Types {
		latencies = append(latencies, &r.Mixed.Types[i].Service)
	}
	if _, err := result.MergedLatency(append(latencies, latencies...)...); err != nil {
		return fmt.Errorf("its latencies: %w", err)
	}
	if err := gob.NewDecoder(bytes.NewReader(r.Journal)).Decode(&r.journal); err != nil {
		return fmt.Errorf("its journal: %w", err)
	}
	r.Journal = nil
	if len(r.journal.Types) > len(p.into)-1 || len(r.journal.Shares) > 1 {
		return errors.New("it remembers more than its part")
	}
	for i := range r.journal.Types {
		for _, answers := range [][]engine.Answered{r.journal.Types[i].Full, r.journal.Types[i].Counted} {
			if err := checkAnswers(answers, p.places(i+1)); err != nil {
				return err
			}
		}
	}
	rows := int64(0)
	for _, s := range r.journal.Shares {
		for _, w := range s.Writes {
			if w.Rows < 0 || w.Rows > math.MaxInt64/2-rows || w.Begin < engine.Never || w.Acked < engine.Never {
				return errors.New("it remembers impossible batches")
			}
			rows += w.Rows
		}
	}
	return nil
}

// places returns the number of generated queries of a measurement.
func (p *phase) places(into int) int {
	if j := p.into[into]; j.queries > 0 {
		return j.queries
	}
	return p.into[into].tally.Cell.First + p.into[into].tally.Cell.Queries
}

func checkAnswers(answers []engine.Answered, places int) error {
	for i := range answers {
		a := &answers[i]
		if a.Place < 0 || a.Place >= places || a.Rows < 0 || a.At < 0 {
			return fmt.Errorf("an answer to query %d, and %d are drawn", a.Place, places)
		}
	}
	return nil
}

// checkNumbers returns an error if a record has impossible figures, or a text that is too long to
// display.
func checkNumbers(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkNumbers(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if err := checkNumbers(v.Field(i)); err != nil {
					return fmt.Errorf("%s: %w", v.Type().Field(i).Name, err)
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := checkNumbers(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if err := errors.Join(checkNumbers(entries.Key()), checkNumbers(entries.Value())); err != nil {
				return err
			}
		}
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.Abs(f) > mostQuantity { // NaN means unknown
			return fmt.Errorf("%g is impossible", f)
		}
	case reflect.String:
		if v.Len() > mostText {
			return fmt.Errorf("a text of %d bytes", v.Len())
		}
	}
	return nil
}
