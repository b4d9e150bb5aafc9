package metrics

import (
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// part is the series of a table that targets of one job report about one kind of entity. An entity has
// the same number of series in a part as any other.
type part struct {
	*entry
	table  *series.Table
	job    job
	entity entity
	always bool   // see section.always
	count  uint32 // series of an entity
	first  uint32 // number of the first series
	size   uint32 // number of all series
	seed   uint64
	sizes  []uint32 // of the entry's dimensions
	keys   []string // see section.keys

	step   float64 // what the values are multiples of is up/down, and step its inverse; 0: any float
	up     float64
	down   float64
	rate   float64       // events of a counter per interval, in steps
	shapes [shapes]shape // of histograms
	limits [][2]float64  // lower and upper bounds of their buckets
}

// grouped is the parts of a table.
type grouped struct {
	table *series.Table
	parts []*part
}

// owners returns how many entities of a kind targets of a job report, replaced ones included, and how
// many at a time.
func (s *schedule) owners(j job, e entity) (all, alive uint32) {
	switch {
	case s.counts[j] == 0:
		return 0, 0
	case e == ofNode:
		return s.nodes, s.nodes
	case e == ofDeployment:
		return s.deployments, s.deployments
	case e == ofPod || j == app:
		return s.podNumbers, s.counts[app]
	}
	return s.counts[j], s.counts[j]
}

// layout makes the tables of the catalog, and numbers the series: those of a table are consecutive, and
// so are those of a part and of an entity.
func (d *Dataset) layout() error {
	sections := catalog()
	d.setGrowth(sections)
	byName := map[string]*grouped{}
	var tables []*grouped
	for i := range sections {
		s := &sections[i]
		for _, e := range s.expand() {
			if !d.wants(e.class) {
				continue
			}
			for _, j := range s.jobs {
				for _, p := range d.partsOf(s, e, j) {
					g := byName[e.name]
					if g == nil {
						g = &grouped{table: d.newTable(e)}
						byName[e.name] = g
						tables = append(tables, g)
					}
					p.table = g.table
					g.parts = append(g.parts, p)
				}
			}
		}
	}
	numbers, alive, replaced := uint64(0), uint64(0), uint64(0)
	for _, g := range tables {
		first := numbers
		for _, p := range g.parts {
			all, now := d.owners(p.job, p.entity)
			if p.fillsPods() {
				all, now = d.counts[p.job], d.counts[p.job]
			}
			size := uint64(all) * uint64(p.count)
			p.first, p.size = uint32(numbers), uint32(size)
			numbers += size
			alive += uint64(now) * uint64(p.count)
			replaced += uint64(all-now) * uint64(p.count)
			if !p.always {
				d.exposed[p.job][p.entity] += uint64(p.count)
			}
		}
		g.table.Range = series.Span{First: uint32(first), End: uint32(numbers)}
		g.table.Tags = d.newTags(g)
	}
	if numbers > math.MaxUint32 {
		return workload.Bad("scale", "%d targets have %d series until the end, and at most %d can be numbered; lower it, or metrics.series or metrics.churn", d.targets, numbers, uint32(math.MaxUint32))
	}
	if len(tables) == 0 {
		return workload.Bad(Name+".classes", "%s leaves no metric of %d targets; name further classes, or raise --scale", strings.Join(d.classes, ","), d.targets)
	}
	d.tables, d.alive, d.replaced = tables, alive, replaced
	d.schema = &series.Schema{Series: uint32(numbers)}
	for _, g := range tables {
		d.schema.Tables = append(d.schema.Tables, g.table)
	}
	return nil
}

// expand returns the entries of a section as metrics: a classic histogram is three.
func (s *section) expand() []*entry {
	var list []*entry
	for i := range s.entries {
		e := &s.entries[i]
		if s.filler != nil {
			e.dimensions = append(slices.Clip(e.dimensions), s.filler)
		}
		list = append(list, e)
		if e.class != classicBuckets {
			continue
		}
		of := strings.TrimSuffix(e.name, "_bucket")
		sums, counts := *e, *e
		sums.name, sums.class, sums.resolution = of+"_sum", classicSums, full
		counts.name, counts.class = of+"_count", classicCounts
		list = append(list, &sums, &counts)
		le := &dimension{keys: []string{"le"}, size: uint32(len(bounds()) + 1), values: [][]string{boundTexts()}}
		e.dimensions = append(slices.Clip(e.dimensions), le)
	}
	return list
}

// wants reports whether a class is to be generated.
func (d *Dataset) wants(c class) bool {
	c = c.shownClass()
	if c == classicBuckets && d.histograms == native || c == nativeBuckets && d.histograms == classic {
		return false
	}
	return slices.Contains(d.classes, classNames()[c])
}

// partsOf returns the parts of a metric that targets of a job report. An entry with fillers has two: one
// of application pods, and one of fillers.
func (d *Dataset) partsOf(s *section, e *entry, j job) []*part {
	p := part{entry: e, job: j, entity: s.entity, always: s.always, keys: strings.Fields(s.keys)}
	if s.filler == nil {
		p.setSizes(d.growth[j])
		return d.existing(&p)
	}
	pods, fillers := p, p
	plain := *e
	plain.dimensions = slices.DeleteFunc(slices.Clone(e.dimensions), func(of *dimension) bool { return of.filler })
	pods.entry = &plain
	pods.setSizes(d.growth[j])
	first := *e
	first.dimensions = append(slices.DeleteFunc(slices.Clone(e.dimensions), func(of *dimension) bool { return !of.filler }), plain.dimensions...)
	fillers.entry, fillers.entity = &first, ofTarget
	fillers.setSizes(d.growth[j])
	return append(d.existing(&pods), d.existing(&fillers)...)
}

// existing completes a part; it is omitted if it has no series.
func (d *Dataset) existing(p *part) []*part {
	if all, _ := d.owners(p.job, p.entity); all == 0 || p.count == 0 {
		return nil
	}
	p.seed = splitmix.Mix(d.seed ^ splitmix.MixText(p.name) + uint64(p.job)*splitmix.Golden + uint64(p.entity)*perStep)
	p.setValues(d.interval.Seconds())
	return []*part{p}
}

func (p *part) fillsPods() bool { return len(p.dimensions) > 0 && p.dimensions[0].filler }

// setSizes sets the sizes of the dimensions; growth is the size of each dimension that grows.
func (p *part) setSizes(growth uint32) {
	p.count = 1
	for _, of := range p.dimensions {
		n := of.size
		if n == 0 {
			n = growth
		}
		p.sizes = append(p.sizes, n)
		p.count *= n
	}
}

// setGrowth sets the size of the dimensions that grow, for each job, so that a target of the job has
// about as many series as it should. It counts all classes, so that series do not depend on the
// classes that are generated.
func (d *Dataset) setGrowth(sections []section) {
	var fixed, growing [jobs]float64
	for i := range sections {
		s := &sections[i]
		for k := range s.entries {
			e := &s.entries[k]
			count, grows := 1.0, false
			for _, of := range e.dimensions {
				if of.size == 0 {
					grows = true
				} else {
					count *= float64(of.size)
				}
			}
			if e.class == classicBuckets {
				count *= float64(len(bounds()) + 3)
			}
			for _, j := range s.jobs {
				switch {
				case s.filler != nil:
					growing[j] += count
					fallthrough
				case s.entity != ofTarget:
					if targets := d.counts[j]; targets > 0 {
						_, alive := d.owners(j, s.entity)
						fixed[j] += count * float64(alive) / float64(targets)
					}
				case grows:
					growing[j] += count
				default:
					fixed[j] += count
				}
			}
		}
	}
	for j := range d.growth {
		n := math.Round((float64(d.perTarget) - fixed[j]) / growing[j])
		d.growth[j] = uint32(max(n, 1))
	}
}

// newTable makes the table of a metric, without its tags.
func (d *Dataset) newTable(e *entry) *series.Table {
	kind := e.kind()
	of := family(e.name, kind)
	t := &series.Table{
		Name: e.name, Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}},
		Dense:  d.failed == 0 && d.podNumbers == d.counts[app],
		Metric: &series.Metric{Kind: kind, Family: of, Help: e.help, Unit: unitOf(of), Class: classNames()[e.class.shownClass()]},
	}
	if e.class == nativeBuckets {
		t.Metric.Native = &series.Native{Schema: nativeSchema, ZeroThreshold: nativeThreshold, First: nativeFirst}
		t.Fields = nativeFields()
	}
	return t
}
