package result

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/workload"
)

// LargestNumber is the bound for the magnitude of numbers that Check accepts. A server's byte
// counters stay far below it.
const LargestNumber = 1e18

// Further bounds for Check, far above any measurement.
const (
	mostCount   = 1 << 53 // sums of some hundred counts fit into an int64
	mostRepeats = 1 << 20
	mostPlaces  = 1 << 26 // single query times in the whole run, gaps included
)

// idPattern matches the IDs of runs and sweeps.
var idPattern = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-z]{1,32}$`)

// ProperID reports whether an ID has the form of a run or sweep ID. IDs are also folder names.
func ProperID(text string) bool { return idPattern.MatchString(text) }

// MaxDocument is the default limit for the size of a run document or a file of runs: 256 MiB.
const MaxDocument = 256 << 20

// Check returns why tsmark cannot have recorded the run, with the location in its document; nil:
// reports can rely on it. It checks numbers, lengths and references, not whether figures are true.
// An external run is checked once, when it is read.
func Check(r *Run) error {
	c := checker{agents: make(map[string]bool), targets: make(map[string]bool)}
	for i := range r.Agents {
		c.agents[r.Agents[i].Name] = true
	}
	for i := range r.Targets {
		name := r.Targets[i].Name
		if name == "" || c.targets[name] {
			return fmt.Errorf("targets[%d]: the name %q is empty or not unique", i, name)
		}
		c.targets[name] = true
	}
	return c.walk(reflect.ValueOf(r).Elem(), "")
}

// checker checks the values of a run, depth first.
type checker struct {
	agents, targets map[string]bool // by name
	places          int             // number of single query times so far
}

func (c *checker) walk(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return c.walk(v.Elem(), path)
		}
	case reflect.Slice:
		if times, ok := v.Interface().([]float64); ok { // a million times do not need a path each
			at := slices.IndexFunc(times, func(x float64) bool { return math.Abs(x) > LargestNumber })
			if at < 0 {
				return nil
			}
		}
		for i := range v.Len() {
			if err := c.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if err := c.walk(v.MapIndex(key), fmt.Sprintf("%s[%q]", path, key)); err != nil {
				return err
			}
		}
	case reflect.Float64:
		// NaN is the absent Value. JSON cannot express it in another way.
		if math.Abs(v.Float()) > LargestNumber {
			return fmt.Errorf("%s: %g is out of range", path, v.Float())
		}
	case reflect.Int, reflect.Int64:
		if n := v.Int(); (n < -1 || n > mostCount) && path != "query_seed" { // query_seed may be any number
			return fmt.Errorf("%s: %d is out of range", path, n)
		}
	case reflect.Struct:
		return c.walkStruct(v, path)
	}
	return nil
}

func (c *checker) walkStruct(v reflect.Value, path string) error {
	var err error
	switch value := v.Addr().Interface().(type) { // maps of a run contain no structs
	case *time.Time:
		return checkTime(*value, path)
	case *workload.Spec: // its seed may be any number
		if err := checkTime(value.Start, path+".start"); err != nil {
			return err
		}
		return checkTime(value.End, path+".end")
	case *Latency:
		err = checkLatency(value)
	case *Resources:
		err = checkResources(value)
	case *Target:
		err = c.checkTarget(value)
	case *Repeat:
		err = checkRepeat(value)
	case *Part:
		if !c.agents[value.Agent] || value.TakenOver != "" && !c.agents[value.TakenOver] {
			err = fmt.Errorf("agent %q is not one of the run's", value.Agent)
		} else if value.Share < 0 || value.Share >= len(c.agents) {
			err = fmt.Errorf("share %d of %d agents", value.Share, len(c.agents))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(path, "."), err)
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		below := path
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			below += "." + name
		}
		if err := c.walk(v.Field(i), strings.TrimPrefix(below, ".")); err != nil {
			return err
		}
	}
	return nil
}

func checkTime(t time.Time, path string) error {
	// RFC 3339 cannot express other years.
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("%s: the year %d is out of range", path, y)
	}
	return nil
}

func checkLatency(l *Latency) error {
	if l.Count < 0 {
		return fmt.Errorf("%d operations", l.Count)
	}
	if l.Histogram == "" {
		return nil
	}
	restored, err := measure.Restore(l.Histogram, l.Summary)
	if err == nil && restored.Count() != l.Count {
		err = fmt.Errorf("its histogram has %d operations, and its figures are of %d", restored.Count(), l.Count)
	}
	return err
}

func checkResources(r *Resources) error {
	for i, at := range r.At {
		if i > 0 && at < r.At[i-1] {
			return fmt.Errorf("reading %d of source %q is earlier than the one before it", i, r.Source)
		}
	}
	for name, column := range r.Metrics {
		if len(column) != len(r.At) {
			return fmt.Errorf("metric %q of source %q has %d values for %d readings", name, r.Source, len(column), len(r.At))
		}
	}
	return nil
}

func (c *checker) checkTarget(t *Target) error {
	for _, other := range []string{t.Twin, t.SameServer} {
		if other != "" && !c.targets[other] {
			return fmt.Errorf("it refers to target %q, which the run does not have", other)
		}
	}
	numbers, extents := make(map[int]bool), make(map[string][2]int)
	for i := range t.Repeats {
		r := &t.Repeats[i]
		if r.Number < 1 || r.Number > mostRepeats || numbers[r.Number] {
			return fmt.Errorf("the number %d of a repeat is out of range or not unique", r.Number)
		}
		numbers[r.Number] = true
		for j := range r.Queries {
			q := &r.Queries[j]
			if len(q.Each) == 0 {
				continue
			}
			if q.First < 0 || q.First > mostPlaces {
				return fmt.Errorf("repeat %d, query type %q: %d is out of range for the place of its first query", r.Number, q.Type, q.First)
			}
			extent, ok := extents[q.Type]
			if !ok {
				extent[0] = q.First
			}
			extents[q.Type] = [2]int{min(extent[0], q.First), max(extent[1], q.First+len(q.Each))}
		}
	}
	for _, extent := range extents {
		c.places += extent[1] - extent[0]
	}
	if c.places >= mostPlaces {
		return errors.New("its single query times lie too far apart")
	}
	return nil
}

func checkRepeat(r *Repeat) error {
	types := make(map[string]bool)
	for i := range r.Queries {
		if name := r.Queries[i].Type; name == "" || types[name] {
			return fmt.Errorf("the query type %q is empty or not unique", name)
		}
		types[r.Queries[i].Type] = true
	}
	return nil
}
