package lie

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
)

// blocks are rows as ClickHouse's format Native has them, in blocks of columns. Over
// HTTP they go in compressed frames where a parameter says so.
type blocks []*block

// block is columns of so many rows.
type block struct {
	columns []column
	rows    int
}

// column is one of a block, cut into its values.
type column struct {
	head   []byte // its name and its type
	prefix []byte // the dictionary, of LowCardinality
	nulls  []byte // of Nullable
	values [][]byte
	field  bool // a number
}

// into finds the statement by which blocks are written.
var into = regexp.MustCompile(`(?i)^\s*insert\s+into\s+(\S+).*\bformat\s+native\s*$`)

// asksNative reports whether the answer to a request is in the format Native.
func asksNative(r *http.Request) bool { return r.URL.Query().Get("default_format") == "Native" }

// nativeRows applies the lie to the body of a request that writes the table's rows.
func (p *proxy) nativeRows(r *http.Request, body []byte) ([]byte, error) {
	found := into.FindStringSubmatch(r.URL.Query().Get("query"))
	if found == nil || strings.Trim(found[1], "`") != p.table {
		return body, nil
	}
	framed := r.URL.Query().Get("decompress") == "1"
	all, err := parseNative(body, framed)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		p.falsify(b)
	}
	return all.encode(framed)
}

// falsify does to the rows of a block what their fates are.
func (p *proxy) falsify(b *block) {
	var order []int
	for row, fate := range p.fates(b.rows) {
		switch {
		case fate == Zero:
			b.zero(row)
		case fate == Swap && row > 0:
			b.swap(row-1, row)
		}
		order = append(order, slices.Repeat([]int{row}, fate.copies())...)
	}
	b.keep(order)
}

// zero makes each field of a row 0, and swap exchanges those of two rows.
func (b *block) zero(row int) {
	for i := range b.columns {
		if c := &b.columns[i]; c.field {
			c.values[row] = make([]byte, len(c.values[row]))
			if c.nulls != nil {
				c.nulls[row] = 0
			}
		}
	}
}

func (b *block) swap(i, j int) {
	for n := range b.columns {
		if c := &b.columns[n]; c.field {
			c.values[i], c.values[j] = c.values[j], c.values[i]
			if c.nulls != nil {
				c.nulls[i], c.nulls[j] = c.nulls[j], c.nulls[i]
			}
		}
	}
}

// keep leaves rows in an order.
func (b *block) keep(order []int) {
	for i := range b.columns {
		c := &b.columns[i]
		values, nulls := make([][]byte, len(order)), make([]byte, len(order))
		for n, row := range order {
			if values[n] = c.values[row]; c.nulls != nil {
				nulls[n] = c.nulls[row]
			}
		}
		if c.values = values; c.nulls != nil {
			c.nulls = nulls
		}
	}
	b.rows = len(order)
}

// nativeAnswer is an answer in blocks.
type nativeAnswer struct {
	blocks
	framed bool
}

func (a *nativeAnswer) count() int {
	n := 0
	for _, b := range a.blocks {
		n += b.rows
	}
	return n
}

// with returns the answer with other rows.
func (a *nativeAnswer) with(order []int) ([]byte, error) {
	a.keep(order)
	return a.encode(a.framed)
}

// keep leaves rows in an order, each in the block that it came from.
func (a *nativeAnswer) keep(order []int) {
	first := 0
	for _, b := range a.blocks {
		rows := b.rows
		b.keep(within(order, first, rows))
		first += rows
	}
}

// parseNative cuts blocks into their values.
func parseNative(body []byte, framed bool) (blocks, error) {
	if framed {
		unpacked, err := unframe(body)
		if err != nil {
			return nil, err
		}
		body = unpacked
	}
	r := &nativeReader{rest: body}
	var all blocks
	for len(r.rest) > 0 && r.err == nil {
		b := &block{columns: make([]column, r.number())}
		b.rows = r.number()
		for i := range b.columns {
			b.columns[i] = r.column(b.rows)
		}
		all = append(all, b)
	}
	return all, r.err
}

// unframe reads the frames one after the other.
func unframe(body []byte) ([]byte, error) {
	out, err := io.ReadAll(compress.NewReader(bytes.NewReader(body)))
	if errors.Is(err, io.EOF) {
		err = nil // between two frames
	}
	return out, err
}

// encode is what parseNative has read.
func (all blocks) encode(framed bool) ([]byte, error) {
	var out []byte
	for _, b := range all {
		if b.rows == 0 {
			continue
		}
		out = binary.AppendUvarint(out, uint64(len(b.columns)))
		out = binary.AppendUvarint(out, uint64(b.rows))
		for _, c := range b.columns {
			out = append(append(out, c.head...), c.prefix...)
			if c.prefix != nil {
				out = binary.LittleEndian.AppendUint64(out, uint64(b.rows))
			}
			out = append(out, c.nulls...)
			for _, v := range c.values {
				out = append(out, v...)
			}
		}
	}
	if !framed || len(out) == 0 {
		return out, nil
	}
	w := compress.NewWriter(0, compress.None)
	err := w.Compress(out)
	return w.Data, err
}

// errShort says that a block goes on where the bytes end.
var errShort = errors.New("bytes of a block are missing")

// nativeReader reads what blocks consist of.
type nativeReader struct {
	rest []byte
	err  error
}

func (r *nativeReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		if r.err == nil {
			r.err = fmt.Errorf("%w: %d bytes", errShort, n-len(r.rest))
		}
		r.rest = nil
		return make([]byte, min(max(n, 0), 1<<20))
	}
	part := r.rest[:n:n]
	r.rest = r.rest[n:]
	return part
}

func (r *nativeReader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size == 0 {
		r.take(1)
		return 0
	}
	if size < 0 || n > 1<<24 {
		r.err, r.rest = errors.New("no number that a block can have"), nil
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// text reads a text with its length.
func (r *nativeReader) text() []byte {
	whole := r.rest
	n := r.number()
	r.take(n)
	if r.err != nil {
		return nil
	}
	size := len(whole) - len(r.rest)
	return whole[:size:size]
}

func (r *nativeReader) column(rows int) (c column) {
	name, kind := r.text(), r.text()
	c.head = append(append([]byte{}, name...), kind...)
	_, skip := binary.Uvarint(kind)
	of := string(kind[max(0, skip):])
	if rows == 0 || r.err != nil {
		return c
	}
	low, isLow := inside(of, "LowCardinality")
	if isLow {
		of = low
	}
	inner, nullable := inside(of, "Nullable")
	if nullable {
		of = inner
	}
	switch {
	case isLow:
		before := r.rest
		head := r.take(24)
		for range int(binary.LittleEndian.Uint64(head[16:])) {
			r.value(of)
		}
		if r.err != nil {
			return c
		}
		c.prefix = before[:len(before)-len(r.rest)]
		r.take(8)
		for range rows {
			c.values = append(c.values, r.take(1<<head[8]))
		}
		return c
	case nullable:
		c.nulls = append([]byte{}, r.take(rows)...)
	}
	c.field = of != "String" && !strings.HasPrefix(of, "Date")
	for range rows {
		c.values = append(c.values, r.value(of))
	}
	return c
}

// value reads a value of a type.
func (r *nativeReader) value(kind string) []byte {
	if kind == "String" {
		return r.text()
	}
	return r.take(widthOf(kind))
}

// widthOf is how many bytes a value of a type has that is no text.
func widthOf(kind string) int {
	switch base, _, _ := strings.Cut(kind, "("); base {
	case "Bool":
		return 1
	case "Date":
		return 2
	case "Date32", "DateTime":
		return 4
	case "DateTime64":
		return 8
	}
	bits, _ := strconv.Atoi(strings.TrimLeft(kind, "UIntFloa")) // Int64, UInt8, Float32
	return bits / 8
}

// inside returns what stands between the parentheses of a type.
func inside(kind, name string) (string, bool) {
	if rest, ok := strings.CutPrefix(kind, name+"("); ok {
		return strings.TrimSuffix(rest, ")"), true
	}
	return kind, false
}
