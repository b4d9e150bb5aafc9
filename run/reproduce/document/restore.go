package document

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tsmark/tsmark/run/experiment"
)

// restore gives an experiment back a value of a parameter that small has not.
type restore struct {
	path  string
	value any // the document's, as in its file; nil: all that others stand for
}

// restores are all of an experiment, in the document's order. A value that stands for
// another one comes before values that are lost. Of workers, and whatever else goes by
// cores, no value returns where others stand for them: a longer time makes no cores.
func (e *Experiment) restores() []restore {
	small := merge(e.Run, e.Cut(Small).Run)
	var list []restore
	for _, path := range sweptBy(e.Run) {
		wanted, there := valuesOf(e.Run, path), valuesOf(small, path)
		stands := e.Cut(Small).For[path]
		if len(stands) > 0 && ofCores(path) {
			continue
		}
		if len(stands) > 0 && !shared(stands, wanted) {
			list = append(list, restore{path: path})
			for i, v := range there {
				for printed, ours := range stands {
					if fmt.Sprint(v) == ours {
						there[i] = printed
					}
				}
			}
		}
		for _, v := range wanted {
			if !contains(there, v) {
				list = append(list, restore{path, v})
			}
		}
	}
	return list
}

// ofCores reports whether values of a parameter go by the cores of a machine.
func ofCores(path string) bool {
	return strings.HasSuffix(path, ".workers") || strings.HasSuffix(path, ".vgroups")
}

// shared reports whether a value that stands for another one is also one of the document's.
func shared(stands map[string]string, values []any) bool {
	for _, ours := range stands {
		if contains(values, ours) {
			return true
		}
	}
	return false
}

func contains(values []any, v any) bool {
	return slices.ContainsFunc(values, func(known any) bool { return fmt.Sprint(known) == fmt.Sprint(v) })
}

// spans are the parameters that say of how long the rows are, and how many. In an entry
// of include they go with its other parameters, and make no point of their own.
var spans = []string{"workload.timestamp-end", "workload.log-interval"}

// sweptBy are the parameters that make the points of an experiment.
func sweptBy(run yaml.MapSlice) []string {
	var list []string
	matrix, _ := asMap(get(run, "matrix"))
	for _, axis := range matrix {
		list = append(list, fmt.Sprint(axis.Key))
	}
	for _, entry := range entriesOf(run) {
		for _, item := range entry {
			if path := fmt.Sprint(item.Key); !slices.Contains(spans, path) && !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return list
}

// valuesOf are those that a parameter has in the points of an experiment.
func valuesOf(run yaml.MapSlice, path string) []any {
	if axis, ok := get(run, "matrix", path).([]any); ok {
		return slices.Clone(axis)
	}
	return includedOf(run, path)
}

// includedOf are those of the entries of include.
func includedOf(run yaml.MapSlice, path string) []any {
	var list []any
	for _, entry := range entriesOf(run) {
		if v := get(entry, path); v != nil && !contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// entriesOf are those of an experiment's include.
func entriesOf(run yaml.MapSlice) []yaml.MapSlice {
	values, _ := get(run, "include").([]any)
	var list []yaml.MapSlice
	for _, v := range values {
		if entry, ok := asMap(v); ok {
			list = append(list, entry)
		}
	}
	return list
}

// more is the cut of small with values that returned, and so many times the rows and the
// time for queries, at most as many as the document has. Its words are those of small.
func (e *Experiment) more(done []restore, times float64) Cut {
	cut := e.Cut(Small)
	cut.For, cut.Lost = maps.Clone(cut.For), maps.Clone(cut.Lost)
	run := merge(e.Run, cut.Run)
	for _, r := range done {
		run = e.restored(run, &cut, r)
	}
	cut.Run = e.longer(run, times)
	return cut
}

// restored is an experiment with a value that returned, which the cut has no longer lost.
func (e *Experiment) restored(run yaml.MapSlice, cut *Cut, r restore) yaml.MapSlice {
	if r.value == nil {
		stands := cut.For[r.path]
		delete(cut.For, r.path)
		return everywhere(run, r.path, func(v any) any {
			for printed, ours := range stands {
				if fmt.Sprint(v) == ours {
					return e.asWritten(r.path, printed)
				}
			}
			return v
		})
	}
	text := fmt.Sprint(r.value)
	if list := slices.DeleteFunc(slices.Clone(cut.Lost[r.path]), func(v string) bool { return v == text }); len(list) > 0 {
		cut.Lost[r.path] = list
	} else {
		delete(cut.Lost, r.path)
	}
	if stands := maps.Clone(cut.For[r.path]); stands != nil {
		delete(stands, text)
		cut.For[r.path] = stands
	}
	entry := e.entry(r)
	if axis, ok := get(run, "matrix", r.path).([]any); ok {
		values := inOrder(append(slices.Clone(axis), r.value), valuesOf(e.Run, r.path))
		run = withoutDoubles(merge(run, yaml.MapSlice{{Key: "matrix", Value: yaml.MapSlice{{Key: r.path, Value: values}}}}))
		if len(entry) < 2 && r.path != "workload.scale" {
			return run // what goes for all points goes for it
		}
	}
	if r.path == "workload.scale" {
		entry = e.shortened(run, entry, r.value)
	}
	list, _ := get(run, "include").([]any)
	return merge(run, yaml.MapSlice{{Key: "include", Value: append(slices.Clone(list), any(entry))}})
}

// withoutDoubles is an experiment without entries of include that its matrix has.
func withoutDoubles(run yaml.MapSlice) yaml.MapSlice {
	var left []any
	entries := entriesOf(run)
	for _, entry := range entries {
		if slices.ContainsFunc(entry, func(item yaml.MapItem) bool {
			axis, _ := get(run, "matrix", fmt.Sprint(item.Key)).([]any)
			return !contains(axis, item.Value)
		}) {
			left = append(left, entry)
		}
	}
	if len(left) == len(entries) {
		return run
	}
	return merge(run, yaml.MapSlice{{Key: "include", Value: left}})
}

// entry is what the document's include says of a value.
func (e *Experiment) entry(r restore) yaml.MapSlice {
	for _, entry := range entriesOf(e.Run) {
		if v := get(entry, r.path); v != nil && fmt.Sprint(v) == fmt.Sprint(r.value) {
			return entry
		}
	}
	return yaml.MapSlice{{Key: r.path, Value: r.value}}
}

// withoutLimit is an entry in which a parameter has the document's value in place of one
// that stood for it: what the data is larger than is the host's memory, and no part of it.
func withoutLimit(entry yaml.MapSlice) yaml.MapSlice {
	return slices.DeleteFunc(slices.Clone(entry), func(item yaml.MapItem) bool { return fmt.Sprint(item.Key) == experiment.MemoryPath })
}

// asWritten is a value of a parameter as the document's file has it.
func (e *Experiment) asWritten(path, value string) any {
	for _, v := range valuesOf(e.Run, path) {
		if fmt.Sprint(v) == value {
			return v
		}
	}
	return value
}

// inOrder are values in the order of others that have them, the rest behind.
func inOrder(values, order []any) []any {
	place := func(v any) int {
		i := slices.IndexFunc(order, func(o any) bool { return fmt.Sprint(o) == fmt.Sprint(v) })
		if i < 0 {
			return len(order)
		}
		return i
	}
	slices.SortStableFunc(values, func(a, b any) int { return place(a) - place(b) })
	return values
}

// everywhere is an experiment with other values of a parameter that makes its points.
func everywhere(run yaml.MapSlice, path string, with func(any) any) yaml.MapSlice {
	if matrix, ok := asMap(get(run, "matrix")); ok {
		run = merge(run, yaml.MapSlice{{Key: "matrix", Value: replaced(matrix, path, func(v any) any {
			var values []any
			list, _ := v.([]any)
			for _, one := range list {
				values = append(values, with(one))
			}
			return values
		})}})
	}
	var entries []any
	for _, entry := range entriesOf(run) {
		v := get(entry, path)
		entry = replaced(entry, path, with)
		if fmt.Sprint(v) != fmt.Sprint(get(entry, path)) {
			entry = withoutLimit(entry)
		}
		entries = append(entries, entry)
	}
	if entries == nil {
		return run
	}
	return merge(run, yaml.MapSlice{{Key: "include", Value: entries}})
}

// leastEach is how many rows of each series a point has at least, where it is as short as
// others: a load of fewer is one of new series more than of rows.
const leastEach = 6

// shortened is an entry for a scale that small has not, with as many rows as the largest of
// its other points has, but at least leastEach of each series.
func (e *Experiment) shortened(run, entry yaml.MapSlice, scale any) yaml.MapSlice {
	base := spanOf(run, nil)
	largest := 0.0
	for _, v := range valuesOf(run, "workload.scale") {
		if fmt.Sprint(v) == fmt.Sprint(scale) {
			continue
		}
		s := base
		for _, known := range entriesOf(run) {
			if of := get(known, "workload.scale"); of != nil && fmt.Sprint(of) == fmt.Sprint(v) {
				s = spanOf(run, known)
			}
		}
		largest = max(largest, float64(s.length())/float64(s.interval)*number(v))
	}
	whole := spanOf(e.Run, entry)
	each := max(math.Ceil(largest/number(scale)), leastEach)
	length := min(time.Duration(each)*whole.interval, whole.length())
	entry = slices.DeleteFunc(slices.Clone(entry), func(item yaml.MapItem) bool { return item.Key == "workload.timestamp-end" })
	return append(entry, yaml.MapItem{Key: "workload.timestamp-end", Value: whole.start.Add(length).Format(time.RFC3339)})
}

// span is of how long the rows of a point are.
type span struct {
	start, end time.Time
	interval   time.Duration
}

func (s span) length() time.Duration { return s.end.Sub(s.start) }

// spanOf is that of an entry of include; nil: of the points that say nothing of it.
func spanOf(run, entry yaml.MapSlice) span {
	text := func(key string) string {
		if v := get(entry, "workload."+key); v != nil {
			return fmt.Sprint(v)
		}
		return fmt.Sprint(get(run, "workload", key))
	}
	// What they are is tested for every document: see TestWithin.
	var s span
	s.start, _ = time.Parse(time.RFC3339, text("timestamp-start"))
	s.end, _ = time.Parse(time.RFC3339, text("timestamp-end"))
	s.interval, _ = time.ParseDuration(text("log-interval"))
	s.interval = max(s.interval, 1)
	return s
}

// number is a value as a number; 0: it is none.
func number(v any) float64 {
	var n float64
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

// closer is the interval with so many times the rows, at least the document's, and how
// many times the rows are left for a longer time.
func (s span) closer(document span, times float64) (time.Duration, float64) {
	if s.interval <= document.interval {
		return s.interval, times
	}
	steps := math.Ceil(float64(s.interval) / float64(document.interval) / times)
	interval := time.Duration(max(steps, 1)) * document.interval
	return interval, max(times*float64(interval)/float64(s.interval), 1)
}

// longer is the end of so many times the time, at most the document's.
func (s span) longer(document span, times float64) string {
	length := s.length()
	if most := document.length(); length < most {
		length = min(time.Duration(min(float64(length)*times, float64(most))).Round(document.interval), most)
	}
	return s.start.Add(length).Format(time.RFC3339)
}

// longer is an experiment with so many times the rows and the time for queries, at most as
// many as the document has. More rows are of more series, where a point does not say of how
// many, then closer, then of a longer time. What makes the points stays as it is.
func (e *Experiment) longer(run yaml.MapSlice, times float64) yaml.MapSlice {
	if times == 1 {
		return run
	}
	if types, _ := get(run, "queries", "types").([]any); len(types) > 0 {
		run = set(run, "queries", "time-box", e.box(run, times).String())
	}
	swept := sweptBy(run)
	scale, most := number(get(run, "workload", "scale")), number(get(e.Run, "workload", "scale"))
	if scale < most && !slices.Contains(swept, "workload.scale") {
		grown := min(math.Floor(scale*times), most)
		run = set(run, "workload", "scale", uint64(grown))
		times = max(times*scale/grown, 1)
	}
	if slices.Contains(swept, "workload.timestamp-end") {
		return run
	}
	// Points whose entries say nothing of the end have that of the workload.
	s, whole := spanOf(run, nil), spanOf(e.Run, nil)
	closer, left := s.closer(whole, times)
	var entries []any
	for _, entry := range entriesOf(run) {
		own, document := spanOf(run, entry), spanOf(e.Run, e.like(entry))
		interval, more := own.closer(document, times)
		entry = replaced(entry, "workload.log-interval", func(any) any { return interval.String() })
		entry = replaced(entry, "workload.timestamp-end", func(any) any { return own.longer(document, more) })
		if get(entry, "workload.timestamp-end") == nil {
			left = min(left, more)
		}
		entries = append(entries, entry)
	}
	run = set(run, "workload", "log-interval", closer.String())
	run = set(run, "workload", "timestamp-end", s.longer(whole, left))
	if entries == nil {
		return run
	}
	return merge(run, yaml.MapSlice{{Key: "include", Value: entries}})
}

// set is an experiment with another value of a key.
func set(run yaml.MapSlice, section, key string, value any) yaml.MapSlice {
	return merge(run, yaml.MapSlice{{Key: section, Value: yaml.MapSlice{{Key: key, Value: value}}}})
}

// like is the entry of the document's include that makes the same points.
func (e *Experiment) like(entry yaml.MapSlice) yaml.MapSlice {
	same := func(other yaml.MapSlice) bool {
		return !slices.ContainsFunc(other, func(item yaml.MapItem) bool {
			path := fmt.Sprint(item.Key)
			return !slices.Contains(spans, path) && fmt.Sprint(get(entry, path)) != fmt.Sprint(item.Value)
		})
	}
	for _, known := range entriesOf(e.Run) {
		if same(known) {
			return known
		}
	}
	return nil
}

// box is the time for queries, so many times longer, at most the document's.
func (e *Experiment) box(run yaml.MapSlice, times float64) time.Duration {
	box, _ := time.ParseDuration(fmt.Sprint(get(run, "queries", "time-box")))
	most, _ := time.ParseDuration(fmt.Sprint(get(e.Run, "queries", "time-box")))
	if most == 0 { // as long as all queries take
		most = time.Duration(number(get(e.Run, "queries", "count")) * number(get(e.Run, "queries", "repeats")) * float64(assumedQuery))
	}
	if box <= 0 || box >= most {
		return box
	}
	return min(time.Duration(min(float64(box)*times, float64(most))).Round(time.Second), most)
}

// get is what stands at a path of keys; nil: nothing.
func get(m yaml.MapSlice, path ...string) any {
	for i, key := range path {
		at := slices.IndexFunc(m, func(item yaml.MapItem) bool { return item.Key == key })
		if at < 0 {
			return nil
		}
		if i == len(path)-1 {
			return m[at].Value
		}
		m, _ = asMap(m[at].Value)
	}
	return nil
}

// replaced is a mapping with another value of a key, where it has that.
func replaced(m yaml.MapSlice, key string, with func(any) any) yaml.MapSlice {
	made := slices.Clone(m)
	for i := range made {
		if made[i].Key == key {
			made[i].Value = with(made[i].Value)
		}
	}
	return made
}
