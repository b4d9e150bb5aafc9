package cassandra

import (
	"math"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/tsmark/tsmark/series"
)

// newNarrowWriter returns a writer's state of a table in the narrow layout.
func newNarrowWriter(l *layout, t *series.Table, count uint32) *tableWriter {
	registry := []string{seriesColumn, bucketColumn, keyColumn}
	for i := range t.Tags {
		registry = append(registry, t.Tags[i].Key)
	}
	w := &tableWriter{table: t, register: insert(l.registry(t), registry...), spanOf: noSpans(count)}
	for _, f := range storedFields(t) {
		w.inserts = append(w.inserts, insertValue{insert(l.qualify(valueTableOf(f.Type).name), idColumn, nanosecondsName, valueColumn), f})
	}
	return w
}

// divideValues makes batches of the values of each partition, which has a field of a series and day, in
// the order in which they arrived; see divide.
func (w *writer) divideValues(t *tableWriter) (bytes int64) {
	t.reserve(len(t.places) * len(t.inserts))
	const perValue = 21 + 3*4 + 8 // protocol overhead of a statement in a batch, and the time
	next := 0                     // of the entries
	for begin := 0; begin < len(t.places); {
		first, end := t.places[begin], begin+1
		for end < len(t.places) && t.places[end].series == first.series && t.places[end].span == first.span {
			end++
		}
		if t.spanOf[first.series] != first.span {
			t.announced = append(t.announced, first)
		}
		key := len(t.ids)
		t.ids = appendKey(t.ids, t.table, first.series)
		name := t.ids[key:]
		for f := range t.inserts {
			id := t.name(name, t.inserts[f].field.Name, first.span)
			last, from, later := int64(math.MinInt64), next, int64(0)
			cut := func() {
				if next > from {
					w.batches = append(w.batches, batch{t.entries[from:next], later})
					from = next
				}
			}
			for i := begin; i < end; i++ {
				p := &t.places[i]
				value := &t.cells[2*next+1]
				if !t.setValue(value, f, p) {
					continue
				}
				if next-from == w.rows || p.time <= last {
					cut()
				}
				if p.time <= last {
					later++
				}
				last = p.time
				at := &t.cells[2*next]
				at.set64(uint64(p.time))
				entry := &t.entries[next]
				entry.Stmt = t.inserts[f].text
				entry.Args[0], entry.Args[1], entry.Args[2] = id, at, value
				bytes += perValue + int64(len(id.text)+max(value.size, len(value.text)))
				next++
			}
			cut()
		}
		begin = end
	}
	return bytes
}

// reserve makes room for the given number of values, and reuses the memory.
func (t *tableWriter) reserve(values int) {
	t.ids, t.id = t.ids[:0], t.id[:0]
	if values <= len(t.entries) {
		return
	}
	t.cells, t.args, t.entries = make([]cell, 2*values), make([]any, 3*values), make([]gocql.BatchEntry, values)
	for i := range t.entries {
		t.entries[i] = gocql.BatchEntry{Args: t.args[3*i : 3*i+3], Idempotent: true}
	}
	t.id = make([]cell, 0, values) // at most one name per value, so the slice does not move
}

// name returns the name of a partition as an argument.
func (t *tableWriter) name(key []byte, field string, day int64) *cell {
	from := len(t.ids)
	t.ids = appendPlace(append(t.ids, key...), field, day)
	t.id = append(t.id, cell{text: t.ids[from:]})
	return &t.id[len(t.id)-1]
}

// setValue sets the value of a field in a row, if it has one. A row without any value has one of the
// last field.
func (t *tableWriter) setValue(c *cell, f int, p *place) bool {
	run, row := t.runs[p.run], int(p.row)
	if f == len(run.Columns) {
		c.set64(1)
		for column := range run.Columns {
			if !run.Lacks(column, row) {
				return false
			}
		}
		return true
	}
	if run.Lacks(f, row) {
		return false
	}
	field, column := &t.inserts[f].field, &run.Columns[f]
	switch field.Type {
	case series.Int32, series.Date:
		c.set64(uint64(column.Ints[row]))
	default:
		c.setField(field, column, row)
	}
	return true
}
