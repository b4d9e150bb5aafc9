package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/series"
)

// Operations writes every operation of some runs as a Parquet file, from their operation logs. Times of day are
// timestamps, other times seconds. Logs that break off are written as far as they go.
func Operations(w io.Writer, runs []store.Export) error {
	var columns []columnar.FlatColumn
	for _, of := range []struct {
		kind  series.Type
		names []string
	}{
		{series.Text, []string{"run", "client", "target", "kind", "type", "part", "setting", "schedule", "outcome"}},
		{series.Bool, []string{"burn_in", "paused"}},
		{series.Int, []string{"repeat", "worker", "sequence", "query", "rows", "bytes", "values"}},
		{series.Timestamp, []string{"start", "intended"}},
		{series.Float, []string{"duration", "lag", "sent", "client_time", "driver_time"}},
	} {
		for _, name := range of.names {
			columns = append(columns, columnar.FlatColumn{Name: name, Type: of.kind})
		}
	}
	out, err := columnar.NewFlat(w, columns)
	if err != nil {
		return err
	}
	for _, e := range runs {
		for _, l := range e.Logs {
			if err := addLog(out, e.Run.ID, l.Data); err != nil {
				return fmt.Errorf("run %s: %s: %w", e.Run.ID, l.Name, err)
			}
		}
	}
	return out.Close()
}

func addLog(out *columnar.Flat, run string, data []byte) error {
	log, err := oplog.NewReader(bytes.NewReader(data))
	if errors.Is(err, oplog.ErrTruncated) {
		return nil
	}
	if err != nil {
		return err
	}
	header := log.Header()
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	// Zero means that there is nothing to say.
	seconds := func(d time.Duration) any {
		if d == 0 {
			return nil
		}
		return d.Seconds()
	}
	instant := func(d time.Duration) any { return header.Start.Add(d).UnixNano() }
	for op, err := range log.All() {
		if errors.Is(err, oplog.ErrTruncated) {
			return nil
		}
		if err != nil {
			return err
		}
		c := log.Cells()[op.Cell]
		if err := out.Add(run, text(header.Client), c.Target, string(c.Kind), text(c.Type), text(string(c.Part)), text(c.Setting), text(c.Schedule), op.Outcome.String(),
			op.BurnIn, op.Paused,
			int64(c.Repeat), int64(op.Worker), op.Sequence, op.Query, op.Rows, op.Bytes, op.Values,
			instant(op.Start), instant(op.Intended),
			op.Duration.Seconds(), seconds(op.Lag), seconds(op.Sent), seconds(op.Client), seconds(op.Service)); err != nil {
			return err
		}
	}
	return nil
}
