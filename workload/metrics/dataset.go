package metrics

import (
	"errors"
	"io"
	"slices"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Dataset is the samples of all targets, interval by interval. Targets are read in blocks, and a block's
// samples are in the order of the tables, so that those of a table are together. Only the buckets of some
// classic histograms are followed by the sums and counts of these histograms, and then by the next ones:
// batches are cut between them, since OTLP has a histogram's samples in one data point.
type Dataset struct {
	schedule
	schema     *series.Schema
	tables     []*grouped
	perTarget  int
	classes    []string
	histograms string

	growth   [jobs]uint32           // sizes of the dimensions that grow
	exposed  [jobs][entities]uint64 // series that a target of a job exposes of each entity
	alive    uint64                 // series at a time
	replaced uint64                 // series of pods that were replaced

	clients int // that the targets are dealt to; 0: not dealt
	quantum int // rows that a client sends before the next one sends
	// For a share: its first client, and the number of clients that the whole was dealt to. 0
	// clients: the whole dataset.
	first, of int
}

// newDataset makes the dataset of a specification. Its error is a *workload.SpecError.
func newDataset(s workload.Spec) (*Dataset, error) {
	v, err := s.Resolve(useCase{}.Settings())
	if err != nil {
		return nil, err
	}
	if err := checkSpec(s); err != nil {
		return nil, err
	}
	d := &Dataset{
		schedule: schedule{
			seed: splitmix.Mix(uint64(s.Seed) + splitmix.Golden), start: s.Start.UnixNano(), interval: s.Interval,
			epochs: int64(s.End.Sub(s.Start) / s.Interval), targets: s.Scale,
			churn: v.Number("churn"), late: v.Number("late"), failed: v.Number("failed"),
		},
		perTarget: v.Int("series"), histograms: v["histograms"], classes: classNames(),
	}
	if v["classes"] != "" {
		wanted := splitClasses(v["classes"])
		d.classes = slices.DeleteFunc(classNames(), func(name string) bool { return !slices.Contains(wanted, name) })
	}
	d.init()
	if d.life > 0 && d.life < leastLife*d.interval.Milliseconds() {
		return nil, workload.Bad(Name+".churn", "%s replaces each pod before it is scraped %d times; lower it, or shorten --log-interval", v["churn"], leastLife)
	}
	return d, d.layout()
}

// Schema implements workload.Dataset.
func (d *Dataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset.
func (d *Dataset) Open() workload.Reader {
	if d.clients < 2 {
		return d.OpenShard(0)
	}
	shards := make([]workload.Reader, d.clients)
	for i := range shards {
		shards[i] = d.OpenShard(i)
	}
	return workload.Alternate(shards, d.quantum)
}

// Deal implements workload.Dealt. A client has consecutive targets.
func (d *Dataset) Deal(clients, rows int) (workload.Dataset, error) {
	dealt := *d
	dealt.clients, dealt.quantum = clients, rows
	return &dealt, nil
}

// Client implements workload.Dealt.
func (d *Dataset) Client(number uint32, clients int) int {
	for _, g := range d.tables {
		if !g.table.Range.Has(number) {
			continue
		}
		for _, p := range g.parts {
			if at := number - p.first; at < p.size {
				n := d.targetOf(p, at/p.count)
				if p.job == app {
					n %= d.counts[app]
				}
				target := uint64(targetNumber(p.job, n))
				return int(((target+1)*uint64(clients) - 1) / uint64(d.targets)) // the inverse of targetsOf
			}
		}
	}
	return 0
}

// targetsOf returns the targets of a client.
func (d *Dataset) targetsOf(client, of int) (first, end uint32) {
	border := func(client int) uint32 { return uint32(uint64(client) * uint64(d.targets) / uint64(of)) }
	return border(client), border(client + 1)
}

// Shards implements workload.Sharded.
func (d *Dataset) Shards() int { return max(d.clients, 1) }

// OpenShard implements workload.Sharded.
func (d *Dataset) OpenShard(client int) workload.Reader {
	of := d.of
	if of == 0 {
		of = d.Shards()
	}
	first, end := d.targetsOf(d.first+client, of)
	return newReader(d, first, end)
}

// Share implements workload.Divided.
func (d *Dataset) Share(s workload.Share) workload.Dataset {
	if s.Single() {
		return d
	}
	share := *d
	if d.clients > 1 {
		first, end := s.Range(d.clients)
		share.first, share.of, share.clients = first, d.clients, end-first
	} else {
		share.first, share.of = s.Index, s.Count
	}
	return &share
}

// blockRows is about how many rows a block has; the block of one target may have more.
const blockRows = 10_000

// reader is one pass over the samples of consecutive targets.
type reader struct {
	*Dataset
	first, end uint32
	epoch      int64
	target     uint32 // whose samples come after those of the block

	block   []series.Run // by table
	pieces  []piece      // of the block, in the order in which they are returned
	piece   int          // the first one that was not returned
	row     int          // and its first row
	scrapes [jobs][]scrape
	owners  []owner
	buckets []float64 // counts of observations of a series
	sums    []float64 // of the histogram at hand: per series, the sum and the count
	taken   int       // of these
}

// piece is consecutive rows of a table in a block.
type piece struct {
	table       int
	first, rows int
	// whole is the number of rows of the histograms whose buckets the piece has: those of this piece and of the next
	// two. 0: the piece has no buckets.
	whole int
}

// together is the number of classic histograms in a piece. Fewer would make more runs, and more would make
// batches shorter.
const together = 8

// scrape is one scrape of a target.
type scrape struct {
	epoch   int64
	time    int64                              // nanoseconds since 1970
	ok      bool                               // it succeeded
	before  bool                               // and so did the scrape before
	samples uint64                             // that it exposes
	owners  [entities]struct{ first, end int } // in reader.owners
}

// owner is an entity at a scrape.
type owner struct {
	number uint32
	before uint32 // the entity in its place at the scrape before
	clock  clock
}

func newReader(d *Dataset, first, end uint32) *reader {
	r := &reader{Dataset: d, first: first, end: end, target: first}
	var b series.Batch
	for _, t := range d.schema.Tables {
		b.Add(t)
	}
	r.block = b.Runs
	return r
}

// Next implements workload.Reader.
func (r *reader) Next(b *series.Batch, most int) error {
	b.Reset()
	for left := most; left > 0; {
		if r.piece == len(r.pieces) {
			if err := r.advance(); errors.Is(err, io.EOF) {
				break
			}
			continue
		}
		p := &r.pieces[r.piece]
		if r.row == 0 && left < p.whole && left < most { // otherwise a batch would be too small for them
			break
		}
		n := min(left, p.rows-r.row)
		if n > 0 {
			from := &r.block[p.table]
			copyRows(b.Add(from.Table), from, p.first+r.row, n)
			left -= n
		}
		if r.row += n; r.row == p.rows {
			r.piece, r.row = r.piece+1, 0
		}
	}
	if b.Rows() == 0 {
		return io.EOF
	}
	return nil
}

// Fits implements workload.Together.
func (r *reader) Fits(rows int) bool {
	for r.piece == len(r.pieces) {
		if r.advance() != nil {
			return true
		}
	}
	return r.row > 0 || r.pieces[r.piece].whole <= rows
}

// copyRows copies n rows of a run from row at on to an empty run.
func copyRows(to, from *series.Run, at, n int) {
	to.Grow(n)
	copy(to.Series, from.Series[at:])
	copy(to.Times, from.Times[at:])
	for f := range from.Columns {
		source, c := &from.Columns[f], &to.Columns[f]
		if from.Table.Fields[f].Type.UsesInts() {
			copy(c.Ints, source.Ints[at:])
		} else {
			copy(c.Floats, source.Floats[at:])
		}
		if source.Nulls == nil {
			continue
		}
		for row := range n {
			if source.Nulls.Has(at + row) {
				to.SetNull(f, row)
			}
		}
	}
}

// advance fills the next block.
func (r *reader) advance() error {
	if r.target == r.end {
		r.target = r.first
		r.epoch++
	}
	if r.epoch >= r.epochs || r.first == r.end {
		return io.EOF
	}
	for j := range r.scrapes {
		r.scrapes[j] = r.scrapes[j][:0]
	}
	r.owners = r.owners[:0]
	end := min(r.target+uint32(max(blockRows/r.perTarget, 1)), r.end)
	for ; r.target < end; r.target++ {
		if r.arrival(r.target, r.epoch) == r.epoch {
			r.scrape(r.target, r.epoch)
		}
		if r.late == 0 {
			continue
		}
		for epoch := max(r.epoch-mostLate, 0); epoch < r.epoch; epoch++ {
			if r.arrival(r.target, epoch) == r.epoch {
				r.scrape(r.target, epoch)
			}
		}
	}
	for n, g := range r.tables {
		run := &r.block[n]
		run.Grow(0)
		for f := range run.Columns {
			run.Columns[f].Nulls = nil
		}
		r.taken = 0
		if g.parts[0].class == classicBuckets {
			r.sums = r.sums[:0]
		}
		for _, p := range g.parts {
			for i := range r.scrapes[p.job] {
				r.add(run, p, &r.scrapes[p.job][i])
			}
		}
	}
	r.cut()
	return nil
}

// cut divides the block into pieces.
func (r *reader) cut() {
	r.pieces, r.piece, r.row = r.pieces[:0], 0, 0
	for n := 0; n < len(r.tables); n++ {
		rows := r.block[n].Rows()
		if r.tables[n].parts[0].class != classicBuckets {
			r.pieces = append(r.pieces, piece{table: n, rows: rows})
			continue
		}
		histograms := r.block[n+1].Rows() // the tables of sums and counts follow
		for first := 0; first < histograms; first += together {
			count, buckets := min(together, histograms-first), rows/histograms
			r.pieces = append(r.pieces,
				piece{n, first * buckets, count * buckets, count * (buckets + 2)},
				piece{table: n + 1, first: first, rows: count},
				piece{table: n + 2, first: first, rows: count})
		}
		n += 2
	}
}

// scrape adds a scrape to the block.
func (r *reader) scrape(target uint32, epoch int64) {
	j, n := jobOf(target)
	t := scrape{epoch: epoch, time: r.time(target, epoch), ok: r.succeeds(target, epoch), before: epoch > 0 && r.succeeds(target, epoch-1)}
	for e := range entities {
		t.owners[e].first = len(r.owners)
		r.addOwners(j, n, e, epoch)
		t.owners[e].end = len(r.owners)
		if t.ok {
			t.samples += r.exposed[j][e] * uint64(t.owners[e].end-t.owners[e].first)
		}
	}
	r.scrapes[j] = append(r.scrapes[j], t)
}

// addOwners adds the entities of a kind that a target reports.
func (r *reader) addOwners(j job, n uint32, e entity, epoch int64) {
	switch {
	case e == ofTarget && j == app:
		r.addPod(n, epoch)
	case e == ofTarget:
		r.addOwner(n, r.random(n, forClocks+uint64(j)), epoch)
	case j == app || j == node:
	case e == ofPod:
		first, end := r.objectsOf(j, n, r.counts[app])
		for slot := first; slot < end; slot++ {
			r.addPod(slot, epoch)
		}
	case j == kubelet:
	case e == ofNode:
		first, end := r.objectsOf(j, n, r.nodes)
		for number := first; number < end; number++ {
			r.addOwner(number, r.random(number, forClocks+uint64(node)), epoch)
		}
	case e == ofDeployment:
		first, end := r.objectsOf(j, n, r.deployments)
		for number := first; number < end; number++ {
			r.addOwner(number, r.random(number, forClocks+uint64(jobs)), epoch)
		}
	}
}

// forClocks is the purpose of the random bits of clocks, for a job or for deployments.
const forClocks = 32

func (r *reader) addOwner(number uint32, stream uint64, epoch int64) {
	r.owners = append(r.owners, owner{number, number, r.clockOf(stream, epoch, -1)})
}

// addPod adds the pod in a slot.
func (r *reader) addPod(slot uint32, epoch int64) {
	generation, born := r.generation(slot, epoch), int64(-1)
	if generation > 0 {
		born = r.bornAt(slot, generation)
	}
	number := generation*r.counts[app] + slot
	r.owners = append(r.owners, owner{number, r.pod(slot, max(epoch-1, 0)), r.clockOf(r.random(number, forClocks), epoch, born)})
}

// add adds the samples of a scrape to the run of a table, by the rules of Prometheus's scrapes: a series
// that the scrape before had, and this one lacks, ends with a marker.
func (r *reader) add(run *series.Run, p *part, t *scrape) {
	span := t.owners[p.entity]
	for i := range r.owners[span.first:span.end] {
		o := &r.owners[span.first+i]
		if t.ok || p.always {
			r.addValues(run, p, t, o)
			if (t.before || p.always) && o.before != o.number {
				r.addMarkers(run, p, t, o.before)
			}
		} else if t.before {
			r.addMarkers(run, p, t, o.before)
		}
	}
}

// addRows adds rows of all series of an entity in a part, without values, and returns the index of the
// first one.
func (r *reader) addRows(run *series.Run, p *part, t *scrape, number uint32) (from int) {
	from = run.Rows()
	run.Grow(from + int(p.count))
	first := p.first + number*p.count
	for i := range p.count {
		run.Series[from+int(i)] = first + i
		run.Times[from+int(i)] = t.time
	}
	return from
}

func (r *reader) addMarkers(run *series.Run, p *part, t *scrape, number uint32) {
	from := r.addRows(run, p, t, number)
	for row := from; row < run.Rows(); row++ {
		for f := range run.Columns {
			c := &run.Columns[f]
			if run.Table.Fields[f].Type.UsesInts() {
				c.Ints[row] = 0
			} else {
				c.Floats[row] = 0
			}
			run.SetNull(f, row)
		}
	}
}

func (r *reader) addValues(run *series.Run, p *part, t *scrape, o *owner) {
	from := r.addRows(run, p, t, o.number)
	if p.class == nativeBuckets {
		r.addNative(run, from, p, t, o)
		return
	}
	values := run.Columns[0].Floats[from:]
	switch p.class {
	case classicBuckets:
		r.addBuckets(values, p, t, o)
	case classicSums:
		for i := range values {
			values[i] = r.sums[r.taken+2*i]
		}
		r.taken += 2 * len(values)
	case classicCounts:
		for i := range values {
			values[i] = r.sums[r.taken+2*i+1]
		}
		r.taken += 2 * len(values)
	default:
		p.fill(values, o.number, &o.clock, t)
	}
}

// bucketCounts returns memory for the counts of a series' buckets.
func (r *reader) bucketCounts(p *part) []float64 {
	if len(r.buckets) < len(p.limits) {
		r.buckets = make([]float64, len(p.limits))
	}
	return r.buckets[:len(p.limits)]
}

// addBuckets computes the cumulative counts of classic histograms. The tables of their sums and counts
// follow, and take them from sums.
func (r *reader) addBuckets(values []float64, p *part, t *scrape, o *owner) {
	counts := r.bucketCounts(p)
	stream := p.seed + uint64(o.number)*uint64(p.count)*splitmix.Golden
	for from := 0; from < len(values); from += len(counts) {
		sum := p.observe(counts, splitmix.Mix(stream+uint64(from)*splitmix.Golden), &o.clock, t)
		total := 0.0
		for b, n := range counts {
			total += n
			values[from+b] = total
		}
		r.sums = append(r.sums, sum, total)
	}
}

func (r *reader) addNative(run *series.Run, from int, p *part, t *scrape, o *owner) {
	counts := r.bucketCounts(p)
	stream := p.seed + uint64(o.number)*uint64(p.count)*splitmix.Golden
	for i := range int(p.count) {
		h := splitmix.Mix(stream + uint64(i)*splitmix.Golden)
		row := from + i
		sum := p.observe(counts, h, &o.clock, t)
		zero := int64(events(float64(p.rate*zeroShare)*o.clock.work, h+uint64(len(counts))*splitmix.Golden))
		total := zero
		for b, n := range counts {
			run.Columns[3+b].Ints[row] = int64(n)
			total += int64(n)
		}
		run.Columns[0].Ints[row], run.Columns[1].Floats[row], run.Columns[2].Ints[row] = total, sum, zero
	}
}

// zeroShare is the share of observations that are 0.
const zeroShare = 0.01
