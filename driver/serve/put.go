//go:build !light

package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/series"
)

// knownTags are the tags of the series of a table, numbered in the order in which their first rows
// arrive. Writers share them.
type knownTags struct {
	most  uint32 // series that the schema has
	first uint32 // the number of the first one

	mu      sync.RWMutex
	numbers map[string]uint32 // by all tags
	tags    [][]tagValue      // by series
}

// tagValue is a tag of a series; nil: the series lacks it.
type tagValue []byte

// learnTags gives the tags of a table values that rows will bring.
func learnTags(t *series.Table, most uint32) {
	known := &knownTags{most: most, numbers: make(map[string]uint32)}
	for i := range t.Tags {
		t.Tags[i].Values = learnedTag{known, i}
	}
}

// learnedTag implements series.TagValues.
type learnedTag struct {
	*knownTags
	index int
}

// Append implements series.TagValues.
func (l learnedTag) Append(dst []byte, s uint32) ([]byte, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	at := int(s) - int(l.first)
	if at < 0 || at >= len(l.tags) || l.tags[at][l.index] == nil {
		return dst, false
	}
	return append(dst, l.tags[at][l.index]...), true
}

// learn numbers the series of a table whose rows another process has written.
func (k *knownTags) learn(t *message.Table) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.first = t.First
	for i, tags := range t.Known {
		row := make([]tagValue, len(tags))
		for c, v := range tags {
			row[c] = v
		}
		key := tagsKey(row)
		if _, twice := k.numbers[key]; !twice {
			k.numbers[key] = t.First + uint32(i)
		}
		k.tags = append(k.tags, row)
	}
}

// tagsKey returns all tags of a series as one text.
func tagsKey(tags []tagValue) string {
	var key []byte
	for _, v := range tags {
		if v == nil {
			key = append(key, 0)
			continue
		}
		key = append(binary.AppendUvarint(append(key, 1), uint64(len(v))), v...)
	}
	return string(key)
}

// number returns the number of the series with the tags, which it learns if they are new.
func (k *knownTags) number(tags []tagValue) (uint32, error) {
	key := tagsKey(tags)
	k.mu.Lock()
	defer k.mu.Unlock()
	if n, ok := k.numbers[key]; ok {
		return n, nil
	}
	n := k.first + uint32(len(k.tags))
	if n >= k.most {
		return 0, status.Errorf(codes.InvalidArgument, "rows of more series than the %d of the schema", k.most)
	}
	k.numbers[key] = n
	k.tags = append(k.tags, tags)
	return n, nil
}

// receiver turns record batches of a table into batches of rows.
type receiver struct {
	table  *series.Table
	known  *knownTags // nil: the table has no tags
	batch  series.Batch
	key    []byte
	tags   []tagReader
	cached cache             // series by the codes of their tags
	of     []arrow.ArrayData // the dictionaries whose codes these are
	nulls  []series.Bitmap   // memory, by field
}

func newReceiver(t *series.Table) *receiver {
	r := &receiver{table: t, cached: cache{places: make(map[string]int)}, of: make([]arrow.ArrayData, len(t.Tags)), nulls: make([]series.Bitmap, len(t.Fields))}
	if len(t.Tags) > 0 {
		r.known = t.Tags[0].Values.(learnedTag).knownTags
	}
	return r
}

// decode returns the rows of a record batch. They use its memory.
func (r *receiver) decode(b arrow.RecordBatch) (*series.Batch, error) {
	if want := 1 + len(r.table.Tags) + len(r.table.Fields); int(b.NumCols()) != want {
		return nil, status.Errorf(codes.InvalidArgument, "table %s: %d columns, and its schema has %d", r.table.Name, b.NumCols(), want)
	}
	r.batch.Reset()
	run := r.batch.Add(r.table)
	rows := int(b.NumRows())
	run.Series = resize(run.Series, rows)
	times, ok := b.Column(0).(*array.Timestamp)
	if !ok {
		return nil, status.Errorf(codes.InvalidArgument, "table %s: the first column is not a timestamp", r.table.Name)
	}
	run.Times = arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(times.TimestampValues()))
	if err := r.placeSeries(run, b); err != nil {
		return nil, err
	}
	for f := range r.table.Fields {
		if err := r.field(run, f, b.Column(1+len(r.table.Tags)+f)); err != nil {
			return nil, err
		}
	}
	return &r.batch, nil
}

// placeSeries numbers the series of the rows.
func (r *receiver) placeSeries(run *series.Run, b arrow.RecordBatch) error {
	tags := len(r.table.Tags)
	if tags == 0 {
		clear(run.Series)
		return nil
	}
	r.tags = r.tags[:0]
	for i := range tags {
		of := tagReader{column: b.Column(1 + i), nulls: b.Column(1+i).NullN() > 0}
		switch c := of.column.(type) {
		case *array.Dictionary:
			indexes, ok := c.Indices().(*array.Int32)
			if !ok {
				return status.Errorf(wrongStream, "tag %s: its indexes are not int32", r.table.Tags[i].Key)
			}
			of.codes = indexes.Int32Values()
			if known := c.Data().Dictionary(); known != r.of[i] {
				r.of[i] = known
				r.cached.forget()
			}
		case *array.Float64:
			of.floats = c.Float64Values()
		default:
			return status.Errorf(wrongStream, "tag %s: neither a dictionary nor float64", r.table.Tags[i].Key)
		}
		r.tags = append(r.tags, of)
	}
	r.key = resize(r.key, 8*tags)
	for row := range run.Series {
		for i := range r.tags {
			binary.LittleEndian.PutUint64(r.key[8*i:], r.tags[i].bits(row))
		}
		n, ok := r.cached.find(r.key)
		if !ok {
			var err error
			if n, err = r.learn(b, row); err != nil {
				return err
			}
			r.cached.add(r.key, n)
		}
		run.Series[row] = n
	}
	return nil
}

// tagReader reads a column of tags.
type tagReader struct {
	column arrow.Array
	nulls  bool
	codes  []int32 // of a text tag
	floats []float64
}

// bits returns a value that identifies the tag of a row within the column.
func (t *tagReader) bits(row int) uint64 {
	switch {
	case t.nulls && t.column.IsNull(row):
		return math.MaxUint64
	case t.codes != nil:
		return uint64(t.codes[row])
	}
	return math.Float64bits(t.floats[row])
}

// cache has the series of the tags that a stream has sent. Rows often come in the same order again.
type cache struct {
	places  map[string]int // in numbers, by key
	keys    []byte         // of all places
	numbers []uint32
	last    int // the place that was found last
}

func (c *cache) forget() {
	clear(c.places)
	c.keys, c.numbers, c.last = c.keys[:0], c.numbers[:0], 0
}

func (c *cache) find(key []byte) (number uint32, ok bool) {
	next := c.last + 1
	if next >= len(c.numbers) {
		next = 0
	}
	if at := next * len(key); next < len(c.numbers) && bytes.Equal(c.keys[at:at+len(key)], key) {
		c.last = next
		return c.numbers[next], true
	}
	if c.last, ok = c.places[string(key)]; !ok {
		return 0, false
	}
	return c.numbers[c.last], true
}

func (c *cache) add(key []byte, number uint32) {
	c.last = len(c.numbers)
	c.places[string(key)] = c.last
	c.keys, c.numbers = append(c.keys, key...), append(c.numbers, number)
}

// learn returns the series of a row by its tags.
func (r *receiver) learn(b arrow.RecordBatch, row int) (uint32, error) {
	tags := make([]tagValue, len(r.table.Tags))
	for i := range tags {
		column := b.Column(1 + i)
		if column.IsNull(row) {
			continue
		}
		switch c := column.(type) {
		case *array.Dictionary:
			texts, ok := c.Dictionary().(*array.String)
			if !ok {
				return 0, status.Errorf(wrongStream, "tag %s: its dictionary has no texts", r.table.Tags[i].Key)
			}
			tags[i] = append(tagValue{}, texts.Value(c.GetValueIndex(row))...)
		case *array.Float64:
			tags[i] = strconv.AppendFloat(tagValue{}, c.Value(row), 'g', -1, 64)
		}
	}
	return r.known.number(tags)
}

// wrongStream is the code of a stream that contradicts the protocol.
const wrongStream = codes.InvalidArgument

// field fills a column.
func (r *receiver) field(run *series.Run, f int, of arrow.Array) error {
	c, field, rows := &run.Columns[f], &r.table.Fields[f], run.Rows()
	if of.NullN() > 0 {
		r.nulls[f] = resize(r.nulls[f], (rows+63)/64)
		clear(r.nulls[f])
		for row := range rows {
			if of.IsNull(row) {
				r.nulls[f].Set(row)
			}
		}
		c.Nulls = r.nulls[f]
	}
	switch a := of.(type) {
	case *array.Int64:
		c.Ints = a.Int64Values()
	case *array.Timestamp:
		c.Ints = arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(a.TimestampValues()))
	case *array.Float64:
		c.Floats = a.Float64Values()
	case *array.Float32:
		c.Floats = resize(c.Floats, rows)
		for row, v := range a.Float32Values() {
			c.Floats[row] = float64(v)
		}
	case *array.Int32:
		c.Ints = resize(c.Ints, rows)
		for row, v := range a.Int32Values() {
			c.Ints[row] = int64(v)
		}
	case *array.Date32:
		c.Ints = resize(c.Ints, rows)
		for row, v := range a.Date32Values() {
			c.Ints[row] = int64(v)
		}
	case *array.Boolean:
		c.Ints = resize(c.Ints, rows)
		for row := range rows {
			c.Ints[row] = 0
			if a.Value(row) {
				c.Ints[row] = 1
			}
		}
	case *array.String:
		return r.texts(c, field, rows, of, a.Value)
	case *array.Binary:
		return r.texts(c, field, rows, of, a.ValueString)
	default:
		return status.Errorf(wrongStream, "field %s: values of type %v", field.Name, of.DataType())
	}
	return nil
}

// texts fills a column of texts.
func (r *receiver) texts(c *series.Column, field *series.Field, rows int, of arrow.Array, value func(int) string) error {
	c.Ints = resize(c.Ints, rows)
	for row := range rows {
		if c.Ints[row] = 0; of.IsNull(row) {
			continue
		}
		text := value(row)
		if field.Free() {
			if len(text) > series.MaxFreeText {
				return status.Errorf(wrongStream, "field %s: a text of %d bytes", field.Name, len(text))
			}
			c.SetText(row, []byte(text))
			continue
		}
		number, ok := series.ParseText([]byte(text))
		if !ok || len(text) != field.Length {
			return status.Errorf(wrongStream, "field %s: %q is not a text of %d digits and letters", field.Name, text, field.Length)
		}
		c.Ints[row] = number
	}
	return nil
}

// resize returns a slice of length n, with any contents.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// DoPut implements flight.FlightServer.
func (s *server) DoPut(stream flight.FlightService_DoPutServer) error {
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		return err
	}
	defer reader.Release()
	var put message.Put
	if err := json.Unmarshal(reader.LatestFlightDescriptor().GetCmd(), &put); err != nil {
		return status.Errorf(codes.InvalidArgument, "descriptor: %v", err)
	}
	db, err := s.find(put.DB)
	if err != nil {
		return err
	}
	db.mu.Lock()
	schema := db.schema
	db.mu.Unlock()
	if schema == nil || schema.Table(put.Table) == nil {
		return status.Errorf(codes.InvalidArgument, "table %q was not created", put.Table)
	}
	in, w := newReceiver(schema.Table(put.Table)), db.writer(put.Worker)
	for reader.Next() {
		arrived := time.Now()
		var number message.Batch
		if err := json.Unmarshal(reader.LatestAppMetadata(), &number); err != nil {
			return status.Errorf(codes.InvalidArgument, "metadata of a batch: %v", err)
		}
		receipt, err := w.write(stream.Context(), db, put.Worker, in, reader.RecordBatch())
		if err != nil {
			return statusOf(err)
		}
		receipt.Batch, receipt.ServiceNS = number.Batch, int64(time.Since(arrived))
		text, err := json.Marshal(receipt)
		if err != nil {
			return err
		}
		if err := stream.Send(&flight.PutResult{AppMetadata: text}); err != nil {
			return err
		}
	}
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) && stream.Context().Err() == nil {
		return fmt.Errorf("reading rows of table %s: %w", put.Table, err)
	}
	return nil
}

// write writes the rows of a record batch. After an error the worker begins with a new writer.
func (w *writer) write(ctx context.Context, db *database, worker int, in *receiver, b arrow.RecordBatch) (r message.Receipt, err error) {
	rows, err := in.decode(b)
	if err != nil {
		return r, err
	}
	w.Lock()
	defer w.Unlock()
	if w.of == nil {
		if w.of, err = db.of.NewWriter(context.WithoutCancel(ctx), worker); err != nil {
			w.of = nil
			return r, err
		}
	}
	receipt, err := w.of.Write(ctx, rows)
	if err != nil {
		_ = w.of.Close() // the first error is the relevant one
		w.of = nil
		return r, err
	}
	return receiptOf(0, &receipt, 0), nil
}
