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

// Its index takes new series once a second; before that their rows are in no answer.
// Two such moments without a new one are enough.
const (
	geminiIdleFor = 2200 * time.Millisecond
	geminiLook    = 100 * time.Millisecond
)

// geminiDurability is what its settings are as shipped, which it does not tell.
const geminiDurability = "an acknowledged batch was given to the operating system for the write-ahead log, and is forced to disk by fsync at the latest after " +
	"100ms as shipped (wal-sync-interval, wal-enabled), which the server does not tell"

// geminiCaps takes from what InfluxDB can what openGemini 1.3.0 cannot.
func geminiCaps(c *driver.Caps) {
	c.First = time.Unix(0, 0)
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

// isGemini reports whether the header of an answer is openGemini's, whose version may
// be empty.
func isGemini(header http.Header) bool { return len(header.Values("X-Geminidb-Version")) > 0 }

// geminiVersion is what openGemini says of itself, if the option says that it is that.
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

// geminiNote is Note. The retention policy of a note that is in no answer may be that of a
// server that was killed and is back, whose index has not taken the series of its log yet.
func (d *database) geminiNote(ctx context.Context) (text string, err error) {
	begin := time.Now()
	err = poll.Until(ctx, geminiLook, geminiLook, func() (bool, error) {
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

// cardinality is how many series queries can find.
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

// geminiSeries lists the series of a table by the groups of its rows: openGemini's
// SHOW SERIES does not tell a comma of a value from one between tags.
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

// gone waits until the database no longer exists: openGemini responds to a drop before it is complete,
// and meanwhile refuses statements about the database.
func (d *database) gone(ctx context.Context) error {
	return poll.Until(ctx, 10*time.Millisecond, geminiLook, func() (bool, error) {
		there, err := d.exists(ctx)
		return !there, err
	})
}

// geminiDrops is how long a drop may take that was told the server before.
const geminiDrops = 30 * time.Second

// beingDropped reports whether an error says that the database, or something in it, is
// going, by an order whose sender may be gone as well.
func beingDropped(err error) bool {
	return err != nil && strings.Contains(err.Error(), "is being delete")
}

// onceDropped lists objects after pending drops have completed.
func onceDropped(ctx context.Context, list func() ([]driver.Object, error)) (objects []driver.Object, err error) {
	begin := time.Now()
	err = poll.Until(ctx, geminiLook, geminiLook, func() (bool, error) {
		objects, err = list()
		if beingDropped(err) && time.Since(begin) < geminiDrops {
			return false, nil
		}
		return true, err
	})
	return objects, err
}

// without waits until none of the objects is there, for the same reason.
func (d *database) without(ctx context.Context, objects []driver.Object) error {
	return poll.Until(ctx, 10*time.Millisecond, geminiLook, func() (bool, error) {
		present, err := d.Objects(ctx)
		return !slices.ContainsFunc(present, func(there driver.Object) bool {
			return slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Name == there.Name })
		}), err
	})
}

// hasBooleans reports whether rows of the schema have booleans, which files have as t
// and f, and openGemini takes f for a float.
func hasBooleans(s *series.Schema) bool {
	return slices.ContainsFunc(s.Tables, func(t *series.Table) bool {
		return slices.ContainsFunc(t.Fields, func(f series.Field) bool { return f.Type == series.Bool })
	})
}

// missing reports whether an error says that what a statement is about is not there,
// which InfluxDB answers with nothing.
func missing(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "measurement not found") || strings.Contains(err.Error(), "retention policy not found"))
}
