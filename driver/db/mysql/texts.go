package mysql

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// textWriter implements sqlkit.RowWriter with LOAD DATA.
type textWriter struct {
	l         *loader
	statement string
	reader    reader
}

// newTextWriter returns the writer of a table.
func (l *loader) newTextWriter(t *series.Table) *textWriter {
	return &textWriter{
		l: l, reader: newReader(l.d.options, l.schema, t),
		statement: fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::%s' INTO TABLE %s CHARACTER SET binary", l.name, quoteIdent(t.Name)),
	}
}

// Append implements sqlkit.RowWriter. It counts the bytes of the columns.
func (w *textWriter) Append(ctx context.Context, runs []*series.Run) (bytes int64, err error) {
	r := &w.reader
	r.reset(runs)
	w.l.rows = r
	stored, err := w.l.conn.exec(ctx, w.statement)
	if r.err != nil {
		return 0, r.err // the server's error is a consequence of it
	}
	if err != nil {
		return 0, explainLoadData(err)
	}
	// LOCAL turns errors into warnings, and then stores values that differ from the sent ones.
	var first string
	err = w.l.conn.rows(ctx, "SHOW WARNINGS LIMIT 1", func(row []query.Value) error {
		first = fmt.Sprintf("%s (%s %s)", row[2], row[0], row[1])
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case first != "":
		return 0, fmt.Errorf("the server took rows with a warning, so the batch was undone: %s", first)
	}
	return r.bytes, complete(stored, r.sent)
}

// complete returns an error if the server stored a different number of rows than were sent.
func complete(stored, sent int64) error {
	if stored != sent {
		return fmt.Errorf("the server stored %d rows of %d", stored, sent)
	}
	return nil
}

// Close implements sqlkit.RowWriter.
func (w *textWriter) Close() {}

// reader is runs of one table as a text, encoded while it is sent.
type reader struct {
	encoder *encoder
	texts   *texts // encoded; read up to at
	at      int
	runs    []*series.Run
	row     int   // next one of the first run
	sent    int64 // rows
	bytes   int64
	err     error // of encoding
}

func newReader(o driver.Options, s *series.Schema, t *series.Table) reader {
	return reader{encoder: newEncoder(o, t), texts: newTexts(o, s, t)}
}

func (r *reader) reset(runs []*series.Run) {
	*r = reader{encoder: r.encoder, texts: r.texts, runs: runs}
	r.texts.to = r.texts.to[:0]
}

// chunk is the approximate number of bytes encoded at a time.
const chunk = 64 << 10

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for r.at == len(r.texts.to) || len(r.texts.to)-r.at < len(p) && len(r.runs) > 0 {
		if r.at == len(r.texts.to) && len(r.runs) == 0 {
			return 0, io.EOF
		}
		r.texts.to = r.texts.to[:copy(r.texts.to, r.texts.to[r.at:])]
		r.at = 0
		if r.err = r.fill(chunk); r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.texts.to[r.at:])
	r.at += n
	r.bytes += int64(n)
	return n, nil
}

// fill encodes rows until the text reaches the given size in bytes.
func (r *reader) fill(bytes int) error {
	for ; len(r.runs) > 0; r.runs, r.row = r.runs[1:], 0 {
		for run := r.runs[0]; r.row < run.Rows(); r.row++ {
			if len(r.texts.to) >= bytes {
				return nil
			}
			stored, err := r.encoder.row(r.texts, run, r.row)
			if err != nil {
				return err
			}
			r.sent += stored
		}
	}
	return nil
}

// The text format of LOAD DATA.
const (
	absent  = `\N`
	between = '\t'
)

// texts appends rows to a text of LOAD DATA. It implements cells.
type texts struct {
	to    []byte
	of    *sqlkit.Kept[byte] // by series: the number, or the tags
	names []string           // of fields, as values
	last  int64              // time
	time  []byte             // its text
}

func newTexts(o driver.Options, s *series.Schema, t *series.Table) *texts {
	w := &texts{}
	for _, f := range t.Fields {
		w.names = append(w.names, string(appendEscaped(nil, []byte(f.Name))))
	}
	w.of = sqlkit.NewKept(s.Range(t), func(dst []byte, s uint32) ([]byte, error) {
		if !wide(o) {
			return append(strconv.AppendUint(dst, uint64(s), 10), between), nil
		}
		return w.tags(dst, t.Tags, s)
	})
	return w
}

// tags appends the tags of a series.
func (w *texts) tags(dst []byte, tags []series.Tag, s uint32) ([]byte, error) {
	for i := range tags {
		value, ok := tags[i].Values.Append(nil, s)
		switch {
		case !ok:
			dst = append(dst, absent...)
		case tags[i].Numeric():
			n, err := numeric(&tags[i], s, value)
			if err != nil {
				return dst, err
			}
			dst = strconv.AppendFloat(dst, n, 'g', -1, 64)
		default:
			dst = appendEscaped(dst, value)
		}
		dst = append(dst, between)
	}
	return dst, nil
}

// begin and the methods after it implement cells. Each value is followed by a separator, and end
// replaces the last one.
func (w *texts) begin() {}
func (w *texts) end()   { w.to[len(w.to)-1] = '\n' }
func (w *texts) null()  { w.to = append(append(w.to, absent...), between) }
func (w *texts) integer(v int64) {
	w.to = append(strconv.AppendInt(w.to, v, 10), between)
}
func (w *texts) double(v float64) {
	w.to = append(strconv.AppendFloat(w.to, v, 'g', -1, 64), between)
}
func (w *texts) day(days int64) { w.to = w.appendTime(w.to, days*int64(24*time.Hour), time.DateOnly) }
func (w *texts) text(c *series.Column, row, length int) {
	if length == 0 {
		w.to = append(appendEscaped(w.to, c.Text(row)), between)
		return
	}
	w.to = append(series.AppendText(w.to, c.Ints[row], length), between)
}
func (w *texts) name(f int) { w.to = append(append(w.to, w.names[f]...), between) }

// timestamp appends a time, and reuses the text if it equals the previous time.
func (w *texts) timestamp(ns int64) {
	if w.time == nil || ns != w.last {
		w.time, w.last = w.appendTime(w.time[:0], ns, timeForm), ns
	}
	w.to = append(w.to, w.time...)
}

// timeForm is MySQL's format of a time.
const timeForm = "2006-01-02 15:04:05.999999"

func (w *texts) appendTime(dst []byte, ns int64, form string) []byte {
	return append(time.Unix(0, ns).UTC().AppendFormat(dst, form), between)
}

// series appends the series' values in a row.
func (w *texts) series(s uint32) error {
	of, err := w.of.Elements(s)
	w.to = append(w.to, of...)
	return err
}

// appendEscaped appends a text escaped for both LOAD DATA and a literal.
func appendEscaped(dst, value []byte) []byte {
	for _, c := range value { // no byte of a multi-byte character equals one of these
		if i := slices.Index([]byte("\x00\n\t\\'"), c); i >= 0 {
			dst = append(dst, '\\', `0nt\'`[i])
			continue
		}
		dst = append(dst, c)
	}
	return dst
}
