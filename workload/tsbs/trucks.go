package tsbs

import (
	"io"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// The indexes of a truck's states, as of TSBS's distributions.
const (
	latitude = iota
	longitude
	elevation
	velocity
	heading
	grade
	fuelConsumption
	fuelState
	loadMotive
	status
	truckStates
)

const (
	readingFields    = 7
	diagnosticFields = 3
	truckTags        = 8
)

// truckModel is a truck's model and what follows from it.
type truckModel struct {
	name                                               string
	loadCapacity, fuelCapacity, nominalFuelConsumption string
}

func truckModels() []truckModel {
	return []truckModel{
		{"F-150", "2000", "200", "15"},
		{"G-2000", "5000", "300", "19"},
		{"H-2", "1500", "150", "12"},
	}
}

// fleets is the order in which TSBS draws them.
func fleets() []string { return []string{"East", "West", "North", "South"} }

// truckDataset is the dataset of the iot use case: readings and diagnostics of trucks. Some rows
// arrive late or not at all, or lack a field or a tag.
//
// A row without a tag belongs to another series: that of the truck without the tag. Series i +
// scale × (1 + k) is truck i without its tag k. Without their names, trucks
// may have equal tags.
type truckDataset struct {
	spec   workload.Spec
	schema *series.Schema
}

// noName is the number of the tag that identifies trucks.
const noName = 0

// kindsOfTrucks is the number of different tag sets of trucks without their names.
const kindsOfTrucks = 3 * 4 * 6 * 4

func newTruckDataset(spec workload.Spec) *truckDataset {
	model, fleet, driver, version := make([]uint8, spec.Scale), make([]uint8, spec.Scale), make([]uint8, spec.Scale), make([]uint8, spec.Scale)
	kinds, firsts := make([]uint16, spec.Scale), make([]uint32, kindsOfTrucks)
	for i := range firsts {
		firsts[i] = spec.Scale
	}
	drawTrucks(newRandom(spec.Seed), spec.Scale, nil, func(truck uint32, m, f, d, v uint8) {
		model[truck], fleet[truck], driver[truck], version[truck] = m, f, d, v
		kind := ((uint16(m)*4+uint16(f))*6+uint16(d))*4 + uint16(v)
		kinds[truck], firsts[kind] = kind, min(firsts[kind], truck)
	})
	var names, loads, fuels, consumptions []string
	for _, m := range truckModels() {
		names, loads = append(names, m.name), append(loads, m.loadCapacity)
		fuels, consumptions = append(fuels, m.fuelCapacity), append(consumptions, m.nominalFuelConsumption)
	}
	of := func(values []string, index []uint8) series.TagValues {
		return &series.Dictionary{Values: values, Index: index}
	}
	tags := []series.Tag{
		{Key: "name", Values: series.Numbered{Prefix: "truck_"}},
		{Key: "fleet", Values: of(fleets(), fleet)},
		{Key: "driver", Values: of([]string{"Derek", "Rodney", "Albert", "Andy", "Seth", "Trish"}, driver)},
		{Key: "model", Values: of(names, model)},
		{Key: "device_version", Values: of([]string{"v1.0", "v1.5", "v2.0", "v2.3"}, version)},
		{Key: "load_capacity", Type: series.Float, Values: of(loads, model)},
		{Key: "fuel_capacity", Type: series.Float, Values: of(fuels, model)},
		{Key: "nominal_fuel_consumption", Type: series.Float, Values: of(consumptions, model)},
	}
	for i := range tags {
		tags[i].Values = lacking{tags[i].Values, spec.Scale, uint32(i)}
	}
	floats := func(names ...string) []series.Field {
		fields := make([]series.Field, len(names))
		for i, n := range names {
			fields[i] = series.Field{Name: n, Type: series.Float}
		}
		return fields
	}
	return &truckDataset{spec: spec, schema: &series.Schema{
		Series: spec.Scale * (1 + truckTags),
		Shared: []series.Span{{First: spec.Scale * (1 + noName), End: spec.Scale * (2 + noName)}},
		Representative: func(id uint32) uint32 {
			truck := id % spec.Scale
			return id - truck + firsts[kinds[truck]]
		},
		Tables: []*series.Table{
			{Name: "readings", Tags: tags, Fields: floats("latitude", "longitude", "elevation", "velocity", "heading", "grade", "fuel_consumption")},
			{Name: "diagnostics", Tags: tags, Fields: append(floats("fuel_state", "current_load"), series.Field{Name: "status", Type: series.Int})},
		},
	}}
}

// lacking is the values of a tag for trucks and for trucks that lack one.
type lacking struct {
	series.TagValues
	scale uint32
	tag   uint32
}

// Append implements series.TagValues.
func (l lacking) Append(dst []byte, series uint32) ([]byte, bool) {
	truck, variant := series%l.scale, series/l.scale
	if variant == l.tag+1 {
		return dst, false
	}
	return l.TagValues.Append(dst, truck)
}

// drawTrucks makes all draws of building the trucks. States, truckStates per truck, may be nil, and
// so may tags, which receives the indexes of model, fleet, driver and version.
func drawTrucks(r *random, scale uint32, states []float64, tags func(truck uint32, model, fleet, driver, version uint8)) {
	scratch := make([]float64, truckStates)
	for truck := range scale {
		s := scratch
		if states != nil {
			s = states[int(truck)*truckStates:][:truckStates]
		}
		s[latitude] = r.float64() * 90
		s[longitude] = r.float64() * 180
		s[elevation] = r.float64() * 500
		s[heading] = r.float64() * 360
		s[fuelConsumption] = 25
		s[fuelState] = 1
		model := uint8(r.intn(3))
		fleet := uint8(r.intn(4))
		driver := uint8(r.intn(6))
		version := uint8(r.intn(4))
		if tags != nil {
			tags(truck, model, fleet, driver, version)
		}
	}
}

// Schema implements workload.Dataset.
func (d *truckDataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset. A reader keeps 80 bytes a truck.
func (d *truckDataset) Open() workload.Reader {
	r := &truckReader{
		truckDataset: d,
		trucks: trucks{
			random: newRandom(d.spec.Seed),
			states: make([]float64, int(d.spec.Scale)*truckStates),
			epochs: newEpochs(d.spec, 2),
		},
	}
	drawTrucks(r.trucks.random, d.spec.Scale, r.trucks.states, nil)
	return r
}

// trucks simulates all trucks, before rows are lost or deferred.
type trucks struct {
	random *random
	states []float64
	load   float64 // TSBS's trucks share the load
	epochs epochs
	table  int
	truck  uint32
}

// truckRow is a row on its way: it may be deferred, and lose a field or a tag.
type truckRow struct {
	time    int64
	values  [readingFields]float64
	truck   uint32
	table   uint8
	noField int8 // the field that it misses, or -1
	noTag   int8 // likewise
}

// finished reports whether the time range or the number of rows is reached. Next continues beyond
// it, since TSBS checks too late in the middle of its batches.
func (t *trucks) finished() bool { return t.epochs.left == 0 }

// next makes the next row. It reports false for a truck that does not exist in
// this epoch.
func (t *trucks) next(row *truckRow) bool {
	e := &t.epochs
	if t.truck == e.scale {
		t.truck, t.table = 0, t.table+1
	}
	if t.table == 2 {
		t.table = 0
		t.tick()
		e.advance()
	}
	s := t.states[int(t.truck)*truckStates:][:truckStates]
	*row = truckRow{time: e.time, truck: t.truck, table: uint8(t.table), noField: -1, noTag: -1}
	if t.table == 0 {
		row.values = [readingFields]float64{
			cut(s[latitude], 1e5), cut(s[longitude], 1e5), cut(s[elevation], 1), cut(s[velocity], 1),
			cut(s[heading], 1), cut(s[grade], 1), cut(s[fuelConsumption], 10),
		}
	} else {
		row.values[0], row.values[1], row.values[2] = cut(s[fuelState], 10), cut(t.load, 1), cut(s[status], 1)
	}
	exists := uint64(t.truck) < e.hosts
	t.truck++
	if e.left > 0 {
		e.left--
	}
	return exists
}

// cut returns x cut to decimals, the unit being their power of ten.
func cut(x, unit float64) float64 { return float64(int(x*unit)) / unit }

// tick moves all trucks to the next epoch.
func (t *trucks) tick() {
	r := t.random
	uniform := func(low, high float64) float64 {
		x := r.float64()
		x *= high - low
		x += low
		return x
	}
	move := func(state *float64, step, low, high float64) {
		*state = clamp(*state+uniform(-step, step), low, high)
	}
	for i := 0; i < len(t.states); i += truckStates {
		s := t.states[i : i+truckStates]
		move(&s[latitude], 0.005, -90, 90)
		move(&s[longitude], 0.005, -180, 180)
		move(&s[elevation], 10, 0, 5000)
		move(&s[velocity], 10, 0, 100)
		move(&s[heading], 5, 0, 360)
		move(&s[grade], 5, 0, 100)
		move(&s[fuelConsumption], 5, 0, 50)
		s[fuelState] = clamp(s[fuelState]+uniform(-0.001, 0), 0, 1)
		if s[fuelState] == 0 {
			s[fuelState] = 1 // refuelled
		}
		if s[loadMotive] = uniform(0, 1); s[loadMotive] >= 0.95 {
			t.load = uniform(0, 5000)
		}
		s[status] = clamp(s[status]+r.normal(), 0, 5)
	}
}

// What becomes of TSBS's batches of rows, and of the rows in them.
const (
	truckBatch          = 10
	batchMissing        = 0.01
	batchDeferred       = 0.05
	batchInsertPrevious = 0.5
	entryInsertPrevious = 0.5
	entryMissing        = 0.1
	entryNoField        = 0.1
	entryNoTag          = 0.01
	entryDeferred       = 0.3
)

// fate holds the results of a batch's draws. Positions beyond a batch, to which rows move when
// others before them are omitted, are all unset.
type fate struct {
	insertPrevious, missing, deferred bool
	entries                           [truckBatch]entryFate
}

type entryFate struct {
	insertPrevious, missing, deferred bool
	noField, noTag                    int8 // or -1
}

// truckReader produces the rows of one pass.
type truckReader struct {
	*truckDataset
	trucks          trucks
	current         []truckRow // rows of the batch not given out yet
	deferredBatches [][]truckRow
	deferred        queue
	batch           [truckBatch]truckRow // memory of current
	spare           [][]truckRow         // memory of deferred batches
}

// queue is rows first in, first out.
type queue struct {
	rows []truckRow
	head int
}

func (q *queue) len() int           { return len(q.rows) - q.head }
func (q *queue) push(row *truckRow) { q.rows = append(q.rows, *row) }
func (q *queue) pop() truckRow {
	row := q.rows[q.head]
	if q.head++; q.head == len(q.rows) {
		q.rows, q.head = q.rows[:0], 0
	} else if q.head > 1024 && q.head > len(q.rows)/2 {
		q.rows = q.rows[:copy(q.rows, q.rows[q.head:])]
		q.head = 0
	}
	return row
}

// drawFate makes the draws of a batch.
func (r *truckReader) drawFate() fate {
	draw := r.trucks.random
	chance := func(p float64) bool { return draw.float64() < p }
	var f fate
	if f.missing = chance(batchMissing); f.missing {
		return f
	}
	f.deferred = chance(batchDeferred)
	f.insertPrevious = len(r.deferredBatches) > 0 && chance(batchInsertPrevious)
	pending := r.deferred.len()
	for i := range f.entries {
		e := &f.entries[i]
		e.noField, e.noTag = -1, -1
		if pending > 0 && chance(entryInsertPrevious) {
			e.insertPrevious = true
			pending--
		}
		if e.missing = chance(entryMissing); e.missing {
			continue
		}
		if chance(entryNoField) {
			e.noField = int8(draw.intn(readingFields))
		}
		if chance(entryNoTag) {
			e.noTag = int8(draw.intn(truckTags))
		}
		e.deferred = chance(entryDeferred)
	}
	return f
}

// nextBatch makes current the next rows. It reports false at the end.
func (r *truckReader) nextBatch() bool {
	for {
		if r.trucks.finished() {
			return r.drain()
		}
		f := r.drawFate()
		switch {
		case f.insertPrevious:
			r.takeDeferredBatch()
			return true
		case f.missing:
			var row truckRow
			for range truckBatch {
				if !r.trucks.next(&row) {
					break
				}
			}
		case f.deferred:
			var memory []truckRow
			if n := len(r.spare); n > 0 {
				memory, r.spare = r.spare[n-1], r.spare[:n-1]
			}
			if batch := r.fill(memory[:0], &f); len(batch) > 0 {
				r.deferredBatches = append(r.deferredBatches, batch)
			}
		default:
			if r.current = r.fill(r.batch[:0], &f); len(r.current) > 0 {
				return true
			}
		}
	}
}

// drain makes the deferred rows current, batches first.
func (r *truckReader) drain() bool {
	if len(r.deferredBatches) > 0 {
		r.takeDeferredBatch()
		return true
	}
	r.current = r.batch[:0]
	for r.deferred.len() > 0 && len(r.current) < truckBatch {
		r.current = append(r.current, r.deferred.pop())
	}
	return len(r.current) > 0
}

func (r *truckReader) takeDeferredBatch() {
	first := r.deferredBatches[0]
	r.current = append(r.batch[:0], first...)
	r.spare = append(r.spare, first)
	r.deferredBatches = r.deferredBatches[:copy(r.deferredBatches, r.deferredBatches[1:])]
}

// fill appends the rows of a batch to dst.
func (r *truckReader) fill(dst []truckRow, f *fate) []truckRow {
	skipped := 0 // rows left out: fates of later rows move by them, those of losses do not
	for i := range truckBatch {
		if r.trucks.finished() {
			break
		}
		row, ok := r.entry(i, &skipped, f)
		if !ok {
			break
		}
		if n := f.entries[i].noField; n >= 0 {
			if row.table == 1 {
				n %= diagnosticFields
			}
			row.noField = n
		}
		if n := f.entries[i].noTag; n >= 0 {
			row.noTag = n
		}
		dst = append(dst, row)
	}
	return dst
}

// entry returns the next row that is neither missing nor deferred.
func (r *truckReader) entry(i int, skipped *int, f *fate) (truckRow, bool) {
	for {
		var e entryFate
		if at := i + *skipped; at < truckBatch {
			e = f.entries[at]
		}
		var row truckRow
		if e.insertPrevious {
			row = r.deferred.pop()
		} else if !r.trucks.next(&row) {
			return row, false
		}
		switch {
		case e.missing:
		case e.deferred:
			r.deferred.push(&row)
		default:
			return row, true
		}
		*skipped++
	}
}

// Next implements workload.Reader.
func (r *truckReader) Next(b *series.Batch, most int) error {
	b.Reset()
	e := &r.trucks.epochs
	var run *series.Run
	rows := 0
	for rows < most {
		if len(r.current) == 0 && !r.nextBatch() {
			break
		}
		row := &r.current[0]
		r.current = r.current[1:]
		if e.groups > 1 && !e.mine() {
			continue
		}
		table := r.schema.Tables[row.table]
		if run == nil || run.Table != table {
			run = b.Add(table)
		}
		at := run.Rows()
		run.Grow(at + 1)
		r.put(run, at, row)
		rows++
	}
	if rows == 0 {
		return io.EOF
	}
	return nil
}

// put writes a row.
func (r *truckReader) put(run *series.Run, at int, row *truckRow) {
	run.Times[at] = row.time
	run.Series[at] = row.truck
	if row.noTag >= 0 {
		run.Series[at] += r.spec.Scale * (1 + uint32(row.noTag))
	}
	if row.table == 0 {
		for f := range readingFields {
			run.Columns[f].Floats[at] = row.values[f]
		}
	} else {
		run.Columns[0].Floats[at], run.Columns[1].Floats[at] = row.values[0], row.values[1]
		run.Columns[2].Ints[at] = int64(row.values[2])
	}
	if row.noField >= 0 {
		run.SetNull(int(row.noField), at)
	}
}
