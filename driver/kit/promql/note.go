package promql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The labels of a part of the note.
const (
	labelVersion = "version"
	labelPart    = "part"
	labelContent = "content"
)

// partLength is the number of bytes of a note in one label: servers allow 1 KiB or more.
const partLength = 900

// NotePart is a series of the metric Note: its labels, and the value of its sample, which is the number
// of parts.
type NotePart struct {
	Labels [][2]string // names and values, sorted by the names
	Parts  int
}

// NoteBatch returns the schema and the rows that write the parts of a note, at a time in milliseconds
// since 1970.
func NoteBatch(at int64, parts []NotePart) (*series.Schema, *series.Batch) {
	table := &series.Table{Name: metric.NoteTable, Fields: []series.Field{{Name: metric.NoteField, Type: series.Int}}}
	for i, label := range parts[0].Labels {
		table.Tags = append(table.Tags, series.Tag{Key: label[0], Values: partLabel{parts, i}})
	}
	b := new(series.Batch)
	run := b.Add(table)
	run.Grow(len(parts))
	for i, part := range parts {
		run.Series[i], run.Times[i], run.Columns[0].Ints[i] = uint32(i), at*int64(time.Millisecond), int64(part.Parts)
	}
	return &series.Schema{Tables: []*series.Table{table}, Series: uint32(len(parts))}, b
}

// partLabel is the values of a label in all parts of a note.
type partLabel struct {
	parts []NotePart
	label int
}

// Append implements series.TagValues.
func (p partLabel) Append(dst []byte, series uint32) ([]byte, bool) {
	return append(dst, p.parts[series].Labels[p.label][1]...), true
}

// UncachedMatcher returns a matcher that matches all series and that no server has seen before.
// VictoriaMetrics caches the series that a matcher found for up to 10 s, even if it found none; an
// uncached matcher finds a new series immediately.
func UncachedMatcher() string { return fmt.Sprintf(`tsmark_look!="%d"`, time.Now().UnixNano()) }

// Note returns the newest complete note.
func (c *Console) Note(ctx context.Context, l Language) (string, error) {
	notes, err := c.notes(ctx, l)
	if err != nil {
		return "", err
	}
	return notes.Text()
}

// notes returns the notes on the server.
func (c *Console) notes(ctx context.Context, l Language) (metric.Notes, error) {
	p := &metric.Plan{At: metric.Latest, Fields: []metric.Field{{Name: metric.Note}}}
	for _, name := range []string{labelVersion, labelPart, labelContent} {
		p.Tags = append(p.Tags, metric.Tag{Label: name})
	}
	s := Span{Length: metric.Latest - metric.Earliest + 1}
	p.Expression = s.AppendRange(l, fmt.Sprintf(`{__name__=%q, %s!="", %s}`, metric.Note, labelVersion, UncachedMatcher()), "")
	var answer query.Answer
	if err := c.Run(ctx, p, limit.NewOwnSink(&answer)); err != nil {
		return nil, err
	}
	notes := metric.Notes{}
	for _, row := range answer.Rows {
		at, err := strconv.ParseInt(string(row[0].Text), 10, 64)
		number, err1 := strconv.Atoi(string(row[1].Text))
		if err := errors.Join(err, err1); err != nil || row[3].Kind != query.Float {
			return nil, metric.ErrNote
		}
		notes.Add(at, number, int(row[3].Float), string(row[2].Text))
	}
	return notes, nil
}

// NoteStore stores a server's note.
type NoteStore interface {
	// WriteNote writes parts, which may become visible a little later.
	WriteNote(context.Context, []NotePart) error
	// KeepNote moves the visible note to permanent storage.
	KeepNote(context.Context) error
	// Delete deletes series.
	Delete(ctx context.Context, match string) error
}

// SetNote writes the note next to the previous one, which stays valid until all parts of the new one
// are visible, and is then deleted.
func (c *Console) SetNote(ctx context.Context, l Language, text string, to NoteStore) error {
	before, err := c.notes(ctx, l)
	if err != nil {
		return err
	}
	newest, err := before.Newest()
	if err != nil {
		return err
	}
	parts := metric.NoteParts(text, partLength)
	now := time.Now()
	at := max(now.UnixNano(), newest+1)
	var written []NotePart
	for i, part := range parts {
		written = append(written, NotePart{Parts: len(parts), Labels: [][2]string{
			{labelContent, part}, {labelPart, strconv.Itoa(i)}, {labelVersion, strconv.FormatInt(at, 10)},
		}})
	}
	if err := to.WriteNote(ctx, written); err != nil {
		return err
	}
	// A cluster shows a sample some time after it has acknowledged it.
	for deadline := now.Add(c.api.Wire.Timeout); ; {
		notes, err := c.notes(ctx, l)
		newest := int64(0)
		if err == nil {
			newest, err = notes.Newest()
		}
		if newest == at {
			break
		}
		if err == nil && time.Now().After(deadline) {
			err = errors.New("the note was written, and is not there")
		}
		if err != nil && time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := to.KeepNote(ctx); err != nil {
		return err
	}
	for old := range before {
		if err := to.Delete(ctx, fmt.Sprintf(`{__name__=%q, %s="%d"}`, metric.Note, labelVersion, old)); err != nil {
			return err
		}
	}
	return nil
}
