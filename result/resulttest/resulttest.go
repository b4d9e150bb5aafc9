// Package resulttest makes runs for tests: complete runs with every field set, and damaged
// documents as an external file may contain.
package resulttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// Run returns a run that result.Check accepts, with random values in all fields, including new
// ones. Equal seeds give equal runs.
func Run(seed uint64) *result.Run {
	m := maker{rand.New(rand.NewPCG(seed, 38))}
	r := new(result.Run)
	m.fill(reflect.ValueOf(r).Elem(), "", "")
	r.ID = fmt.Sprintf("20260131-154500-%04x", seed&0xffff)
	r.Started, r.Status, r.Imported = started, result.Complete, time.Time{}
	r.Finished = started.Add(time.Hour)
	r.Dataset.Fingerprint = "8f14e45fceea167a"
	for i := range r.Agents {
		r.Agents[i].Name = agentNames[i]
	}
	for i := range r.QuerySets {
		r.QuerySets[i].Type = queryTypes[i]
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		t.Name, t.Driver = targetNames[i], drivers[i]
		t.Twin, t.SameServer, t.Load, t.Queries = "", "", nil, nil
		if i > 0 && m.chance(20) {
			t.Twin = targetNames[0]
		}
		for j := range t.Repeats {
			t.Repeats[j].Number = j + 1
			for k := range t.Repeats[j].Queries {
				q := &t.Repeats[j].Queries[k]
				q.Type, q.First = queryTypes[k], j*eachRepeat
			}
		}
	}
	m.repair(reflect.ValueOf(r).Elem(), len(r.Agents))
	return r
}

// Names shared by all runs, so that runs can be compared.
var (
	started     = time.Date(2026, 1, 31, 15, 45, 0, 0, time.UTC)
	targetNames = []string{"duck", "quest", "lite"}
	drivers     = []string{"duckdb", "questdb", "sqlite"}
	agentNames  = []string{"a", "b", "c"}
	queryTypes  = []string{"lastpoint", "double-groupby-1@1h", "high-cpu-1"}
	words       = []string{"cpu", "host_0", "mean", "a text of several words", "1h", "v1.2.3", "tsmark load", "12.5", "strict"}
)

const (
	eachRepeat = 24 // queries of a type
	most       = 3  // elements of a list
)

type maker struct{ *rand.Rand }

func (m maker) chance(percent int) bool { return m.IntN(100) < percent }

// reasons are text fields that withhold or hide the figures next to them.
var reasons = []string{"Withheld", "Failure", "Unsupported", "Unverified", "Difference", "Problem", "PossiblyMissing", "Disagrees", "StandIn",
	"Reason", "Texts", "Lost", "NoReference", "ClientBound", "Missing", "RowsUnread", "Saturated"}

// fill sets the value of a field of the struct within.
func (m maker) fill(v reflect.Value, field, within string) {
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = started.Add(time.Duration(m.IntN(3600)) * time.Second)
		return
	case *workload.Spec:
		*value = workload.Spec{Name: "cpu-only", Seed: 123, Scale: 10, Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
			End: time.Date(2016, 1, 2, 0, 0, 0, 0, time.UTC), Interval: 10 * time.Second}
		return
	case *result.Latency:
		*value = latencies()[m.IntN(4)]
		return
	case *result.Resources:
		*value = m.resources()
		return
	case *result.Value:
		*value = result.Value(m.number())
		if m.chance(15) {
			*value = result.Absent()
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if m.chance(45) && field != "Load" || field == "Mixed" && within == "Writes" || field == "Failed" && m.chance(90) {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), field, within)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				m.fill(v.Field(i), f.Name, field)
			}
		}
	case reflect.Slice:
		n := m.IntN(most + 1)
		switch field {
		case "Targets", "Repeats", "Queries":
			n = 2 + m.IntN(most-1)
		case "Each":
			n = eachRepeat
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			m.fill(v.Index(i), field, within)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range m.IntN(most + 1) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			m.fill(key, "", "")
			m.fill(value, "", "")
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if !slices.Contains(reasons, field) || m.chance(8) {
			v.SetString(words[m.IntN(len(words))])
		}
	case reflect.Bool:
		v.SetBool(m.chance(30))
	case reflect.Float64:
		v.SetFloat(m.number())
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(m.IntN(1000)))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(m.IntN(100)))
	default:
		panic("resulttest: no values of type " + v.Type().String())
	}
}

// number returns a number of seconds or a rate.
func (m maker) number() float64 {
	if m.chance(10) {
		return 0
	}
	return m.ExpFloat64() * []float64{1e-4, 1, 1e4}[m.IntN(3)]
}

// latencies have eachRepeat operations each.
var latencies = sync.OnceValue(func() (all [4]result.Latency) {
	for i := range all {
		l, random := measure.NewLatency(), rand.New(rand.NewPCG(uint64(i), 40))
		for range eachRepeat {
			l.Record(time.Duration(1 + random.ExpFloat64()*1e6))
		}
		var err error
		if all[i], err = result.LatencyOf(l); err != nil {
			panic(err)
		}
	}
	return all
})

func (m maker) resources() result.Resources {
	sources := []string{result.HostSource, result.ClientSource, result.ServerSource(targetNames[0])}
	r := result.Resources{Source: sources[m.IntN(len(sources))], Metrics: make(map[result.Metric][]result.Value)}
	n, at := m.IntN(30), 0.0
	for range n {
		at += m.Float64() * 200
		r.At = append(r.At, at)
	}
	for _, metric := range []result.Metric{result.CPU, result.RSS, result.DiskWritten, result.MemoryUsed, result.Internal("x_total")} {
		column := make([]result.Value, n)
		for i := range column {
			m.fill(reflect.ValueOf(&column[i]).Elem(), "", "")
		}
		r.Metrics[metric] = column
	}
	m.fill(reflect.ValueOf(&r.Total).Elem(), "Total", "")
	return r
}

// repair makes parts refer to existing agents.
func (m maker) repair(v reflect.Value, agents int) {
	if parts, ok := v.Interface().([]result.Part); ok {
		if agents == 0 {
			v.SetZero()
			return
		}
		for i := range parts {
			parts[i].Agent, parts[i].TakenOver, parts[i].Share = agentNames[i%agents], "", i%agents
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			m.repair(v.Elem(), agents)
		}
	case reflect.Slice:
		for i := range v.Len() {
			m.repair(v.Index(i), agents)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				m.repair(v.Field(i), agents)
			}
		}
	}
}

// Damage changes a value at a random place of a JSON document: it makes a number extreme, shortens,
// lengthens or removes a list or an object. The result is valid JSON.
func Damage(document []byte, seed uint64) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(document))
	in.UseNumber()
	var root any
	if err := in.Decode(&root); err != nil {
		return nil, err
	}
	m := maker{rand.New(rand.NewPCG(seed, 39))}
	var places []place
	list(root, "", &places)
	if len(places) == 0 {
		return document, nil
	}
	// Long lists of numbers would receive most of the changes; choosing by name first gives all
	// names equal shares.
	names := make(map[string][]place)
	for _, p := range places {
		names[p.name] = append(names[p.name], p)
	}
	same := names[slices.Sorted(maps.Keys(names))[m.IntN(len(names))]]
	p := same[m.IntN(len(same))]
	p.set(m.otherValue(p.value, places))
	return json.Marshal(root)
}

// place is a value in a document.
type place struct {
	name  string // keys that lead to it
	value any
	set   func(any) // removed: deletes it
}

type removed struct{}

func list(v any, name string, to *[]place) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := name + "." + key
			*to = append(*to, place{below, v[key], func(other any) {
				if _, gone := other.(removed); gone {
					delete(v, key)
					return
				}
				v[key] = other
			}})
			list(v[key], below, to)
		}
	case []any:
		for i := range v {
			*to = append(*to, place{name + "[]", v[i], func(other any) {
				if _, gone := other.(removed); gone {
					other = nil
				}
				v[i] = other
			}})
			list(v[i], name+"[]", to)
		}
	}
}

var (
	integers = []string{"0", "1", "-1", "2", "7", "1000", "65536", "1048575", "67108863", "2147483648", "4294967295", "1000000000000", "9007199254740992", "9223372036854775807", "-9223372036854775808"}
	numbers  = []string{"0", "-0", "1", "-1", "0.5", "1e308", "-1e308", "1e18", "-1e18", "1e17", "9e15", "5e-324", "1e-300", "-1e-9", "1e9", "9e9", "1e12", "1e400"}
	texts    = []string{"", "x", "\x00", "-1", "1e999", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2026-01-31T15:45:00+14:00",
		"lastpoint", "lastpoint@", "@", "duck", "quest", "host", "client", "a", "\u202e\x1b[2J", "</script><script>", "HISTFAAA", "verified", "poisson 100/s", "../..", "=1+1", "%s%d%!", strings.Repeat("long ", 3000)}
)

// otherValue returns a replacement for a value.
func (m maker) otherValue(v any, places []place) any {
	switch m.IntN(12) {
	case 0:
		return nil
	case 1:
		return removed{}
	case 2: // another value of the same document, almost always of a different type
		return clone(places[m.IntN(len(places))].value)
	}
	switch v := v.(type) {
	case json.Number:
		if whole := !strings.ContainsAny(v.String(), ".e"); whole && m.chance(80) {
			return json.Number(integers[m.IntN(len(integers))])
		}
		if f, err := v.Float64(); err == nil && m.chance(30) {
			scale := []float64{-1, 1e-6, 1e3, 1e6, 1e9, 1e15}
			return json.Number(strconv.FormatFloat(f*scale[m.IntN(len(scale))], 'g', -1, 64))
		}
		return json.Number(numbers[m.IntN(len(numbers))])
	case string:
		return texts[m.IntN(len(texts))]
	case bool:
		return !v
	case map[string]any:
		if m.chance(50) {
			return map[string]any{}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if m.chance(50) {
				delete(v, key)
			}
		}
		return v
	case []any:
		switch m.IntN(4) {
		case 0:
			return []any{}
		case 1:
			return v[:m.IntN(len(v)+1)]
		case 2:
			return append(v, m.duplicate(v)...)
		}
		longer := v
		for len(longer) > 0 && len(longer) < 200 {
			more := m.duplicate(longer)
			if more == nil {
				break
			}
			longer = append(longer, more...)
		}
		return longer
	case nil:
		return json.Number(numbers[m.IntN(len(numbers))])
	}
	return v
}

// duplicate copies a list, unless the copies would make a large document.
func (maker) duplicate(list []any) []any {
	if text, err := json.Marshal(list); err != nil || len(text) > 1<<18 {
		return nil
	}
	return clone(list).([]any)
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for key, value := range v {
			c[key] = clone(value)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = clone(v[i])
		}
		return c
	}
	return v
}
