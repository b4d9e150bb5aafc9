package oracle

import (
	"crypto/sha256"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// SampleRows is the number of whole rows of a dataset that are read back, unless a Drawing has
// another number.
const SampleRows = 1000

// Drawing determines the rows of a dataset that are read back.
type Drawing struct {
	Seed string // chooses them; empty: none are drawn
	Rows int    // how many; 0: SampleRows
}

// sampleFields is the maximum number of fields of a row that are read back: a statement cannot name
// as many columns as a table may have.
const sampleFields = 200

// Row is a whole row of a dataset.
type Row struct {
	Table  *series.Table
	Series uint32
	Time   int64 // nanoseconds since 1970
	// Fields are indexes of the table's fields: the fields of the series, or a random subset if
	// there are very many. At least one has a value.
	Fields []int
	Values []query.Value // of Fields; none: they do not matter
}

// Sampler draws whole rows of a dataset as its batches pass: of each table the same number,
// so that small tables have their share, and of its rows each with the same probability
// (Li's algorithm L). What passes costs nothing; a row that is drawn is copied.
type Sampler struct {
	random *rand.Rand
	share  int // rows of a table
	tables map[*series.Table]*reservoir
	order  []*reservoir // in the order of their first rows
	most   int
}

// NewSampler returns a Sampler that draws a number of rows from a schema's tables. The sample is
// determined by the seed and the dataset.
func NewSampler(s *series.Schema, seed string, rows int) *Sampler {
	return &Sampler{
		random: rand.New(rand.NewChaCha8(sha256.Sum256([]byte(seed + " rows")))),
		share:  max(1, rows/max(1, len(s.Tables))), most: rows, tables: make(map[*series.Table]*reservoir),
	}
}

// reservoir is the sample of a table.
type reservoir struct {
	rows []Row
	seen int64 // rows of the table
	next int64 // place of the next one to draw
	w    float64
}

// Add draws from the rows of a run.
func (s *Sampler) Add(run *series.Run) {
	t := s.tables[run.Table]
	if t == nil {
		t = &reservoir{w: 1}
		s.tables[run.Table], s.order = t, append(s.order, t)
	}
	first := t.seen
	t.seen += int64(run.Rows())
	for t.next < t.seen {
		s.draw(t, run, int(t.next-first))
	}
}

// draw takes a row of a run in the place of another one, and finds out which one is next.
func (s *Sampler) draw(t *reservoir, run *series.Run, row int) {
	if len(t.rows) < s.share {
		t.rows = append(t.rows, s.rowOf(run, row))
		if t.next++; len(t.rows) < s.share {
			return
		}
		t.next--
	} else {
		t.rows[s.random.IntN(s.share)] = s.rowOf(run, row)
	}
	t.w *= math.Exp(math.Log(1-s.random.Float64()) / float64(s.share))
	skipped := math.Floor(math.Log(1-s.random.Float64()) / math.Log1p(-t.w))
	t.next += 1 + int64(min(skipped, 1<<62))
}

// rowOf copies a row.
func (s *Sampler) rowOf(run *series.Run, at int) Row {
	r := Row{Table: run.Table, Series: run.Series[at], Time: run.Times[at]}
	places := s.random.Perm(min(run.Table.Width(r.Series), len(run.Columns)))
	for _, f := range places[:min(len(places), sampleFields)] {
		r.Fields = append(r.Fields, f)
		r.Values = append(r.Values, ValueOf(run, f, at))
	}
	return r
}

// ValueOf copies the value of a field in a row.
func ValueOf(run *series.Run, field, row int) query.Value {
	f, c := &run.Table.Fields[field], &run.Columns[field]
	kind := query.KindOf(f.Type)
	switch {
	case run.Lacks(field, row):
		return query.Value{}
	case kind == query.Text:
		return query.Value{Kind: kind, Text: c.AppendText(nil, row, f.Length)}
	case kind == query.Float:
		return query.Value{Kind: kind, Float: c.Floats[row]}
	}
	return query.Value{Kind: kind, Int: c.Ints[row]}
}

// Rows returns the sampled rows, except rows without any value, which some systems do not store.
func (s *Sampler) Rows() []Row {
	var rows []Row
	for _, t := range s.order {
		for i := range t.rows {
			if t.rows[i].hasValue() {
				rows = append(rows, t.rows[i])
			}
		}
	}
	s.random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows[:min(len(rows), s.most)]
}

func (r *Row) hasValue() bool {
	for i := range r.Values {
		if r.Values[i].Kind != query.Null {
			return true
		}
	}
	return false
}

// tag returns the row's value of a tag; false: it lacks the tag.
func (r *Row) tag(place int) (string, bool) {
	text, ok := r.Table.Tags[place].Values.Append(nil, r.Series)
	return string(text), ok
}

// Lookup is a query for one row, by its series and time.
type Lookup struct {
	*Row
	Query query.Query
	Tag   string // the row's value of the tag in the query's answer
}

// Answer returns the first values of the answer's row for the row: its time, its Tag if it has one, and its Values.
func (l *Lookup) Answer() []query.Value {
	row := []query.Value{{Kind: query.Time, Int: l.Time}}
	if l.Tag != "" {
		row = append(row, query.Value{Kind: query.Text, Text: []byte(l.Tag)})
	}
	return append(row, l.Values...)
}

// tellingSeries is the number of series of a table, beside those of the rows to look up, that their tags have to tell apart.
const tellingSeries = 64

// Lookups returns a query for each of the rows. A series is found by two tags at most, those
// that tell the series of a table apart best: the answer may have rows of other series as well.
func Lookups(s *series.Schema, rows []Row) []Lookup {
	tags := make(map[*series.Table][]int)
	list := make([]Lookup, len(rows))
	for i := range rows {
		r := &rows[i]
		if _, known := tags[r.Table]; !known {
			all := slices.Clone(rows)
			span := s.Range(r.Table)
			n := span.End - span.First
			for k := range min(n, tellingSeries) {
				all = append(all, Row{Table: r.Table, Series: span.First + uint32(uint64(k)*uint64(n)/uint64(min(n, tellingSeries)))})
			}
			tags[r.Table] = TellingTags(all, r.Table)
		}
		list[i] = r.lookup(tags[r.Table])
	}
	return list
}

// lookup is the query for a row, by the first tags of a list that it has.
func (r *Row) lookup(tags []int) Lookup {
	at := time.Unix(0, r.Time).UTC()
	l := Lookup{Row: r, Query: query.Query{Table: r.Table.Name, Start: at, End: at.Add(1)}}
	var shape query.Rows
	for _, f := range r.Fields {
		shape.Fields = append(shape.Fields, r.Table.Fields[f].Name)
	}
	for _, place := range tags {
		text, ok := r.tag(place)
		if !ok {
			continue
		}
		if l.Query.In == nil {
			l.Query.In = &query.TagIn{Key: r.Table.Tags[place].Key, Values: []string{text}}
		}
		if shape.Tag, l.Tag = r.Table.Tags[place].Key, text; shape.Tag != l.Query.In.Key {
			break
		}
	}
	l.Query.Shape = shape
	return l
}

// TellingTags returns the indexes of the tags of a table used to look up its rows: the tag with the
// most values among the rows and, unless it identifies all of their series, the tag that
// distinguishes the most series in addition. Numeric tags are not used.
func TellingTags(rows []Row, table *series.Table) []int {
	all := map[uint32]bool{}
	for i := range rows {
		if rows[i].Table == table {
			all[rows[i].Series] = true
		}
	}
	var chosen []int
	matchable := 0
	for len(chosen) < 2 && matchable < len(all) {
		best := -1
		for place := range table.Tags {
			if table.Tags[place].Numeric() {
				continue
			}
			values := map[[2]string]bool{}
			for i := range rows {
				if rows[i].Table != table {
					continue
				}
				var key [2]string
				for n, p := range append(chosen, place) {
					key[n], _ = rows[i].tag(p)
				}
				values[key] = true
			}
			if len(values) > matchable {
				best, matchable = place, len(values)
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
	}
	return chosen
}
