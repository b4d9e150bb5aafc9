package lineformat

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/bits"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// MismatchError is the error of a row that its dataset does not have.
type MismatchError struct{ problem string }

// Error says how to fix it.
func (e *MismatchError) Error() string { return e.problem }

func mismatch(format string, args ...any) error {
	return &MismatchError{fmt.Sprintf(format, args...)}
}

// generated is the tables and series of a generated dataset.
type generated struct {
	series uint32 // number of all series
	byName map[string]*generatedTable
	paired bool // the format is timescaledb
}

// generatedTable is a table of a generated dataset.
type generatedTable struct {
	*input.Table
	numeric []string // keys of numeric tags, with equals signs; in line protocol they precede the fields
	heads   *seriesIndex
}

// NewGeneratedHeads returns the heads of a file that holds a generated dataset; paired says that its
// format is timescaledb.
func NewGeneratedHeads(schema *series.Schema, paired bool) *Heads {
	g := &generated{series: schema.Series, byName: make(map[string]*generatedTable), paired: paired}
	h := &Heads{generated: g, byText: make(map[string]*head)}
	for i, t := range schema.Tables {
		of := &generatedTable{Table: &input.Table{Table: t, Place: i, FieldAt: make(map[string]int, len(t.Fields))}}
		for field := range t.Fields {
			of.FieldAt[t.Fields[field].Name] = field
		}
		for tag := range t.Tags {
			if t.Tags[tag].Numeric() && !paired {
				of.numeric = append(of.numeric, t.Tags[tag].Key+"=")
			}
		}
		g.byName[t.Name], h.tables = of, append(h.tables, of.Table)
	}
	return h
}

// numericLength returns how many bytes of a line's fields are tags, with the commas behind them.
func (g *generated) numericLength(text, fields []byte) int {
	name, _, _ := bytes.Cut(text, []byte{','})
	t := g.byName[string(name)]
	if t == nil {
		return 0
	}
	at := 0
	for _, numeric := range t.numeric {
		if !bytes.HasPrefix(fields[at:], []byte(numeric)) {
			continue
		}
		end := bytes.IndexByte(fields[at:], ',')
		if end < 0 {
			return len(fields)
		}
		at += end + 1
	}
	return at
}

// resolve adds the head of a generated dataset that has the text; name is the text up to the first
// comma, or further.
func (h *Heads) resolve(text, name []byte) (*head, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.byText[string(text)]; found != nil {
		return found, nil
	}
	name, _, _ = bytes.Cut(name, []byte{','})
	t := h.generated.byName[string(name)]
	if t == nil {
		return nil, mismatch("the dataset has no table %q; check the flags that say what generated the file", name[:min(len(name), input.MaxShown)])
	}
	if t.heads == nil {
		t.heads = newSeriesIndex(h.generated.series, h.generated.textOf(t.Table.Table))
	}
	found, ok := t.heads.find(text)
	if !ok {
		return nil, mismatch("the dataset has no series with these tags; check the flags that say what generated the file (--use-case, --seed, --scale …)")
	}
	of := rows{table: t.Table, series: found, width: int32(t.Width(found))}
	for _, key := range t.numeric {
		of.open = of.open || !bytes.Contains(text, []byte(key))
	}
	return h.add(text, of), nil
}

// textOf returns a function that appends the head of a series, as package encode writes it.
func (g *generated) textOf(t *series.Table) func(dst []byte, s uint32) []byte {
	tag := func(dst []byte, t *series.Tag, s uint32, before, after string) []byte {
		start := len(dst)
		dst = append(append(append(dst, before...), t.Key...), '=')
		dst, ok := t.Values.Append(dst, s)
		if !ok && !g.paired {
			return dst[:start]
		}
		return append(dst, after...)
	}
	if g.paired {
		return func(dst []byte, s uint32) []byte {
			dst = append(dst, beginPaired[:len(beginPaired)-1]...)
			for i := range t.Tags {
				dst = tag(dst, &t.Tags[i], s, ",", "")
			}
			return append(append(append(dst, '\n'), t.Name...), ',')
		}
	}
	return func(dst []byte, s uint32) []byte {
		dst = append(dst, t.Name...)
		for i := range t.Tags {
			if !t.Tags[i].Numeric() {
				dst = tag(dst, &t.Tags[i], s, ",", "")
			}
		}
		dst = append(dst, ' ')
		for i := range t.Tags {
			if t.Tags[i].Numeric() {
				dst = tag(dst, &t.Tags[i], s, "", ",")
			}
		}
		return dst
	}
}

// seriesIndex finds the series of a table by the heads of their rows. It takes few bytes a series:
// the texts are composed again to compare them.
type seriesIndex struct {
	seed  maphash.Seed
	slots []uint32 // series and one, by hash; 0: free
	text  func(dst []byte, series uint32) []byte
	tmp   []byte
}

func newSeriesIndex(count uint32, text func(dst []byte, series uint32) []byte) *seriesIndex {
	x := &seriesIndex{seed: maphash.MakeSeed(), text: text}
	x.slots = make([]uint32, 1<<bits.Len64(2*uint64(count)))
	for s := range count {
		x.tmp = text(x.tmp[:0], s)
		at := x.slot(x.tmp)
		for x.slots[at] != 0 {
			at = (at + 1) % uint64(len(x.slots))
		}
		x.slots[at] = s + 1
	}
	return x
}

func (x *seriesIndex) slot(text []byte) uint64 {
	return maphash.Bytes(x.seed, text) % uint64(len(x.slots))
}

// find returns the first series that has the text.
func (x *seriesIndex) find(text []byte) (uint32, bool) {
	for at := x.slot(text); x.slots[at] != 0; at = (at + 1) % uint64(len(x.slots)) {
		s := x.slots[at] - 1
		if x.tmp = x.text(x.tmp[:0], s); string(x.tmp) == string(text) {
			return s, true
		}
	}
	return 0, false
}
