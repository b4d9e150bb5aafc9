package influxdb

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// openGemini is another server that speaks the protocol of InfluxDB 1.x. This file contains the
// differences in its messages and its behavior.
const openGemini = "openGemini"

// Its index takes in new series once a second; their rows are in no result before. Two checks without a
// new series are enough.
const (
	geminiIdleFor = 2200 * time.Millisecond
	geminiLook    = 100 * time.Millisecond
)

// geminiDurability describes the default settings, which the server does not report.
const geminiDurability = "an acknowledged batch was given to the operating system for the write-ahead log, and is forced to disk by fsync at the latest after " +
	"100ms as shipped (wal-sync-interval, wal-enabled), which the server does not report"

// geminiCaps removes the capabilities of InfluxDB that openGemini 1.3.0 lacks.
func geminiCaps(c *driver.Caps) {
	c.First = time.Unix(0, 0)
	c.Changes = driver.Unchangeable("tsmark does not know how openGemini deletes rows")
	c.Changes.Correct, c.Changes.Again = driver.Way{By: "writing the rows again"}, driver.Replaces
	c.Lacks[series.LargeInts] = "openGemini rounds, as it reads integers as doubles"
	c.Lacks[series.RepeatedTimes] = "openGemini may keep another one of than the last"
	c.Lacks[series.FreeTexts] = "openGemini cannot parse lines with every text"
	check := c.Schema
	c.Schema = func(s *series.Schema) error {
		for _, t := range s.Tables {
			for _, f := range t.Fields {
				if f.Type == series.Timestamp {
					return fmt.Errorf("field %s of table %s has times, whose nanoseconds openGemini rounds", f.Name, t.Name)
				}
			}
		}
		return check(s)
	}
	delete(c.Types, series.Timestamp)
}

// isGemini reports whether the header of a response is openGemini's, whose version may be empty.
func isGemini(header http.Header) bool { return len(header.Values("X-Geminidb-Version")) > 0 }

// geminiVersion returns openGemini's version and build, if the option selects openGemini.
func (d *database) geminiVersion(header http.Header) (version, build string, err error) {
	version = strings.TrimSpace(openGemini + " " + header.Get("X-Geminidb-Version"))
	switch {
	case !isGemini(header):
		return "", "", fmt.Errorf("%s %w: what answers there is not openGemini; leave the option %s out", d.Address(), driver.ErrUnreachable, optionServer)
	case !d.settings.gemini():
		return "", "", fmt.Errorf("%s %w: what answers there is %s; give %s=%s", d.Address(), driver.ErrUnreachable, version, optionServer, geminiServer)
	}
	return version, header.Get("X-Geminidb-Build"), nil
}

// geminiNote is Note. If the note's retention policy exists but no note is found, the server may have
// been killed and restarted: its index has not taken in the series in its log yet.
func (d *database) geminiNote(ctx context.Context) (text string, err error) {
	begin := time.Now()
	err = poll.Wait(ctx, geminiLook, geminiLook, func() (bool, error) {
		if text, err = d.readNote(ctx); err != nil || text != "" || time.Since(begin) > geminiIdleFor {
			return true, err
		}
		policies, err := d.table(ctx, "SHOW RETENTION POLICIES ON "+influx.Ident(d.settings.database))
		if missing(err) {
			return true, nil
		}
		return !slices.ContainsFunc(policies, func(p influx.Shown) bool { return p["name"] == note }), err
	})
	return text, err
}

// flushGemini makes the server write the data in memory to files, as it does by itself after 5 s
// without writes, and waits for the end. Then it waits until the index has taken in all new series.
func (d *database) flushGemini(ctx context.Context) (time.Time, error) {
	client := d.own.Client
	request, err := client.Request(ctx, http.MethodPost, "/debug/ctrl", url.Values{"mod": {"flush"}}, nil)
	if err != nil {
		return time.Time{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return time.Time{}, fmt.Errorf("it does not flush: it answered with status %d", response.StatusCode)
	}
	before := int64(-1)
	return poll.Idle(ctx, geminiLook, geminiIdleFor, func() (bool, error) {
		now, err := d.cardinality(ctx)
		grew := now != before
		before = now
		return grew, err
	})
}

// cardinality returns the number of series that queries can find.
func (d *database) cardinality(ctx context.Context) (int64, error) {
	text := "SHOW SERIES EXACT CARDINALITY ON " + influx.Ident(d.settings.database)
	if d.settings.retention != "" {
		text += " FROM " + influx.Ident(d.settings.retention) + "./.*/"
	}
	rows, err := d.table(ctx, text)
	var total int64
	for _, row := range rows {
		var n int64
		if err == nil {
			n, err = strconv.ParseInt(row["count"], 10, 64)
		}
		total += n
	}
	return total, err
}

// geminiSeries lists the series of a table by the groups of its rows: openGemini's SHOW SERIES does not
// distinguish a comma in a value from one between tags.
func (d *database) geminiSeries(ctx context.Context, t *series.Table, keys []string, sink query.Sink) error {
	fields := []string{influx.NullField}
	for _, f := range t.Fields {
		fields = append(fields, f.Name)
	}
	if t.EachRowHas(t.Fields[0].Name) {
		fields = fields[1:2]
	}
	text := influx.Compute(influx.OpenGemini, "count", fields, d.settings.retention, t.Name)
	if len(keys) > 0 {
		text += "\nGROUP BY " + influx.Idents(keys)
	}
	row := make([]query.Value, len(keys))
	return d.groups.Run(ctx, text, func(tag func(string) query.Value) error {
		for i, key := range keys {
			row[i] = tag(key)
		}
		return sink.Row(row)
	})
}

// awaitDrop waits until the database no longer exists: openGemini responds to a drop before it is complete,
// and meanwhile refuses statements about the database.
func (d *database) awaitDrop(ctx context.Context) error {
	return poll.Wait(ctx, 10*time.Millisecond, geminiLook, func() (bool, error) {
		there, err := d.exists(ctx)
		return !there, err
	})
}

// geminiDrops limits the time for a drop that was requested earlier.
const geminiDrops = 30 * time.Second

// beingDropped reports whether an error says that the database, or something in it, is being dropped,
// possibly by a client that has ended.
func beingDropped(err error) bool {
	return err != nil && strings.Contains(err.Error(), "is being delete")
}

// onceDropped lists objects after pending drops have completed.
func onceDropped(ctx context.Context, list func() ([]driver.Object, error)) (objects []driver.Object, err error) {
	begin := time.Now()
	err = poll.Wait(ctx, geminiLook, geminiLook, func() (bool, error) {
		objects, err = list()
		if beingDropped(err) && time.Since(begin) < geminiDrops {
			return false, nil
		}
		return true, err
	})
	return objects, err
}

// awaitRemoval waits until none of the objects exists, for the same reason.
func (d *database) awaitRemoval(ctx context.Context, objects []driver.Object) error {
	return poll.Wait(ctx, 10*time.Millisecond, geminiLook, func() (bool, error) {
		present, err := d.Objects(ctx)
		return !slices.ContainsFunc(present, func(there driver.Object) bool {
			return slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Name == there.Name })
		}), err
	})
}

// hasBooleans reports whether rows of the schema have booleans, which files contain as t and f;
// openGemini parses f as a float.
func hasBooleans(s *series.Schema) bool {
	return slices.ContainsFunc(s.Tables, func(t *series.Table) bool {
		return slices.ContainsFunc(t.Fields, func(f series.Field) bool { return f.Type == series.Bool })
	})
}

// missing reports whether an error says that the subject of a statement does not exist, for which
// InfluxDB returns an empty result.
func missing(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "measurement not found") || strings.Contains(err.Error(), "retention policy not found"))
}
