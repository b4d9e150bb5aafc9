package victoriametrics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/series"
)

const (
	idleFor = 1100 * time.Millisecond // so long no merge must run
	look    = 50 * time.Millisecond
)

// If no server can be told to make samples visible, they count as visible once their number has been
// constant for this long, because a storage node caches for 10 s that a query found no series; and the
// interval of the checks.
const (
	visible = 12 * time.Second
	recount = time.Second
)

// flush makes acknowledged samples visible. vmauth, and components of a cluster that cannot do so for
// all others, lack the path.
func (d *database) flush(ctx context.Context) error {
	if err := d.forceFlush(ctx); !errors.Is(err, promql.ErrNotFound) {
		return err
	}
	return nil
}

func (d *database) forceFlush(ctx context.Context) error {
	_, err := d.own.Get(ctx, http.MethodGet, "/internal/force_flush", nil)
	return err
}

// revealFor is longer than the server keeps the series that a filter found: 10 s, and a tenth more at random.
const revealFor = 15 * time.Second

// reveal makes new series visible to queries whose filter ran before. The server keeps the series that a filter
// found, even if it found none. It forgets them when /internal/force_flush has new entries of the index to
// flush, but not if its own flush, once a second, came first. So tsmark writes a series, and waits until a
// filter that found nothing before finds it. There is an index for each month.
func (d *database) reveal(ctx context.Context) error {
	months := d.months.Load()
	if months == nil {
		return nil
	}
	mark := promql.NotePart{Labels: [][2]string{{"tsmark_reveal", strconv.FormatInt(time.Now().UnixNano(), 10)}}}
	schema, b := promql.NoteBatch(0, slices.Repeat([]promql.NotePart{mark}, len(*months)))
	copy(b.Runs[0].Times, *months)
	match := fmt.Sprintf("{__name__=%q, %s=%q}", metric.Note, mark.Labels[0][0], mark.Labels[0][1])
	ever := promql.Span{Length: metric.Latest - metric.Earliest + 1}
	count := "sum(count_over_time(" + ever.AppendRange(metricsQL{}, match, "") + "))"
	if _, err := d.own.Figure(ctx, metricsQL{}, count); err != nil {
		return err
	}
	if err := d.writeOwn(ctx, schema, b); err != nil {
		return err
	}
	until := time.Now().Add(revealFor)
	if err := poll.Wait(ctx, look, look, func() (bool, error) {
		found, err := d.own.Figure(ctx, metricsQL{}, count)
		return int(found.Float) == len(*months) || time.Now().After(until), err
	}); err != nil {
		return err
	}
	return d.Delete(ctx, match)
}

// monthsOf returns a time in each month of a schema's rows, in nanoseconds since 1970; nil: their times are not
// known.
func monthsOf(s *series.Schema) *[]int64 {
	if s.First.IsZero() || s.Last.Before(s.First) {
		return nil
	}
	var months []int64
	for at := s.First.UnixNano(); at <= s.Last.UnixNano(); at = monthAfter(at) {
		months = append(months, at)
	}
	return &months
}

// Settle implements driver.DB: samples are visible, and merges of parts have ended.
func (d *database) Settle(ctx context.Context) error {
	var since time.Time
	err := d.forceFlush(ctx)
	switch {
	case errors.Is(err, promql.ErrNotFound):
		since, err = d.appear(ctx)
	case err == nil:
		if err = d.reveal(ctx); err != nil {
			break
		}
		since, err = poll.Idle(ctx, look, idleFor, func() (bool, error) {
			all, err := d.ReadMetrics(ctx)
			return all["vm_active_merges storage/big"]+all["vm_active_merges storage/small"]+all["vm_pending_rows storage"] > 0, err
		})
	}
	if err != nil {
		return fmt.Errorf("settling VictoriaMetrics at %s: %w", d.Address(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// appear waits until no further samples of the tables appear, and returns when the last
// ones had.
func (d *database) appear(ctx context.Context) (time.Time, error) {
	before := int64(-1)
	return poll.Idle(ctx, recount, visible, func() (bool, error) {
		total := int64(0)
		for _, t := range d.Tables() {
			r := promql.Everything(metricsQL{}, t)
			v, err := d.own.Figure(ctx, metricsQL{}, "sum("+apply(r, "count_over_time", promql.AnyOf(t), r.All())+")")
			if err != nil {
				return false, err
			}
			total += int64(v.Float)
		}
		changed := total != before
		before = total
		return changed, nil
	})
}

// IdleSince implements driver.DB.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

// figuresOf lists the names and types of the server's metrics that tsmark reads.
var figuresOf = []string{"vm_active_merges", "vm_pending_rows", dataSize, "vm_parts", "vm_rows_added_to_storage_total",
	"vm_rows_ignored_total", "vm_new_timeseries_created_total", "vm_slow_row_inserts_total", "vm_cache_size_bytes"}

// ReadMetrics implements driver.DB. It returns no metrics behind vmauth or in a cluster, where they
// would be those of other processes.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	out := map[string]float64{}
	err := d.readFigures(ctx, func(name, labels string, value float64) {
		if !slices.Contains(figuresOf, name) {
			return
		}
		if _, kind, typed := strings.Cut(labels, `type="`); typed {
			name += " " + strings.TrimSuffix(kind, `"`)
		}
		out[name] += value
	})
	if errors.Is(err, promql.ErrNotFound) {
		return out, nil
	}
	return out, err
}

// readFigures gives a function the server's own figures, none in a cluster.
func (d *database) readFigures(ctx context.Context, take func(name, labels string, value float64)) error {
	if d.settings.selekt != "" {
		return nil
	}
	return d.own.ReadMetrics(ctx, "/metrics", take)
}

// Footprint implements driver.DB: the bytes of all data and indexes of the server,
// other metrics' and deleted ones' included.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	all, err := d.ReadMetrics(ctx)
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the files of VictoriaMetrics at %s: %w", d.Address(), err)
	}
	size := sizesOf(all)
	switch {
	case size.onDisk+size.inMemory == 0:
		return driver.Footprint{Bytes: -1}, nil
	case size.inMemory > 0:
		return driver.Footprint{Bytes: int64(size.onDisk), Pending: fmt.Sprintf("%.0f bytes are in the server's memory", size.inMemory)}, nil
	case !size.memoryKnown && !d.written.Load():
		return driver.Footprint{Bytes: int64(size.onDisk), Pending: "this version does not report how much of it is in its memory"}, nil
	}
	return driver.Footprint{Bytes: int64(size.onDisk)}, nil
}

// sizes are the bytes of all parts, in files and in memory.
type sizes struct {
	onDisk, inMemory float64
	memoryKnown      bool // the server reports those in memory
}

// sizesOf returns the sizes that the server's figures report. The type metaindex is a copy in memory of
// something that the files have.
func sizesOf(figures map[string]float64) (s sizes) {
	for name, v := range figures {
		switch kind, is := strings.CutPrefix(name, dataSize); {
		case !is || strings.HasSuffix(kind, "/metaindex"):
		case strings.HasSuffix(kind, "/inmemory"):
			s.inMemory += v
			s.memoryKnown = true
		default:
			s.onDisk += v
		}
	}
	return s
}

// dataSize is the figure of the bytes of parts, by their type.
const dataSize = "vm_data_size_bytes"

// flushFor is how long FlushMemory waits for data that is still in memory, and is then pending.
const flushFor = 30 * time.Second

// FlushMemory implements driver.DB. The server writes the data in its memory to its files before it takes a
// snapshot, which is a folder of links to these: tsmark takes one and deletes it. It leaves out parts that are
// being merged, and the result of the merge may be in memory again: tsmark repeats this until nothing is left.
func (d *database) FlushMemory(ctx context.Context) error {
	d.written.Store(false)
	if d.settings.selekt != "" {
		return nil // a cluster does not report its size
	}
	until := time.Now().Add(flushFor)
	err := poll.Wait(ctx, look, recount, func() (bool, error) {
		if err := d.snapshot(ctx); err != nil {
			return false, err
		}
		all, err := d.ReadMetrics(ctx)
		return !(sizesOf(all).inMemory > 0) || time.Now().After(until), err
	})
	if err == nil {
		d.written.Store(true)
	}
	return err
}

// snapshot takes a snapshot and deletes it.
func (d *database) snapshot(ctx context.Context) error {
	var taken struct{ Status, Snapshot, Msg string }
	text, err := d.own.Get(ctx, http.MethodGet, "/snapshot/create", nil)
	if err == nil {
		if err = json.Unmarshal(text, &taken); err == nil && taken.Snapshot == "" {
			err = fmt.Errorf("it says %s", httpwire.OneLine(taken.Status+" "+taken.Msg))
		}
	}
	if err != nil {
		return fmt.Errorf("writing out the memory of VictoriaMetrics at %s, by a snapshot: %w", d.Address(), err)
	}
	deleting, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.settings.wire.Timeout)
	defer cancel()
	if _, err = d.own.Get(deleting, http.MethodGet, "/snapshot/delete", url.Values{"snapshot": {taken.Snapshot}}); err != nil {
		return fmt.Errorf("deleting the snapshot %s of VictoriaMetrics at %s, which tsmark took to have its memory written out; delete it by /snapshot/delete: %w", taken.Snapshot, d.Address(), err)
	}
	return nil
}

// flags returns the server's flags that were set, as on its page /flags, or none if it does not show
// them. In a cluster, vmauth would show its own.
func (d *database) flags(ctx context.Context) (map[string]string, error) {
	if d.settings.selekt != "" {
		return nil, nil
	}
	text, err := d.own.Get(ctx, http.MethodGet, "/flags", nil)
	if err != nil {
		if errors.Is(err, driver.ErrUnreachable) || ctx.Err() != nil {
			return nil, err
		}
		return nil, nil
	}
	out := map[string]string{}
	for line := range bytes.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		if plain, err := strconv.Unquote(value); ok && err == nil && strings.HasPrefix(name, "-") {
			out[name[1:]] = plain
		}
	}
	return out, nil
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{
		Location: d.Address(), Version: driver.UnknownVersion, Settings: map[string]string{}, Elsewhere: "port",
		Safety:     driver.InMemory,
		Durability: "an acknowledged batch is in the server's memory, and on disk a few seconds later (-inmemoryDataFlushInterval, 5s)",
	}
	flags, err := d.flags(ctx)
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing VictoriaMetrics: %w", err)
	}
	for _, name := range []string{"retentionPeriod", "dedup.minScrapeInterval", "inmemoryDataFlushInterval", "memory.allowedPercent", "search.maxUniqueTimeseries", "precisionBits"} {
		if v, set := flags[name]; set {
			out.Settings[name] = v
		}
	}
	_ = d.readFigures(ctx, func(name, labels string, _ float64) { // who does not say it stays unknown
		if name == "vm_app_version" {
			out.Version = versionOf(labels, out.Version)
		}
	})
	if ctx.Err() != nil {
		return driver.Description{}, fmt.Errorf("describing VictoriaMetrics: %w", context.Cause(ctx))
	}
	return out, nil
}

// versionOf returns the version in labels, the short one if it exists.
func versionOf(labels, otherwise string) string {
	for _, name := range []string{`version="`, `short_version="`} {
		if _, value, ok := strings.Cut(", "+labels, " "+name); ok {
			if value, _, _ = strings.Cut(value, `"`); value != "" {
				otherwise = value
			}
		}
	}
	return otherwise
}

// Inspect implements driver.DB: flags of the server with which rows would be
// lost, or be found under other names.
func (d *database) Inspect(ctx context.Context) error {
	flags, err := d.flags(ctx)
	if err == nil && flags != nil {
		err = d.check(flags)
	}
	if err != nil {
		return fmt.Errorf("looking at VictoriaMetrics at %s: %w", d.Address(), err)
	}
	return nil
}

func (d *database) check(flags map[string]string) error {
	period := flags["retentionPeriod"]
	if period == "" {
		period = "1"
	}
	if since := time.Now().Add(-parseRetention(period)); d.settings.retention == retentionLong && since.After(time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)) {
		return fmt.Errorf("it drops rows from before %s without a word (-retentionPeriod=%s), and datasets begin in 2016: start it with -retentionPeriod=100y, or give %s=%s for newer rows",
			since.UTC().Format(time.DateOnly), period, optionRetention, retentionAny)
	}
	if v := flags["dedup.minScrapeInterval"]; v != "" && v != "0s" && v != "1ms" {
		return fmt.Errorf("it drops samples that are nearer to each other than -dedup.minScrapeInterval=%s: start it without that flag, or with 1ms", v)
	}
	for _, name := range []string{"influxMeasurementFieldSeparator", "influxSkipMeasurement", "influxSkipSingleField", "influxTrimTimestamp"} {
		if v := flags[name]; v != "" && v != "_" && v != "false" && v != "1ms" {
			return fmt.Errorf("it gives metrics other names or times than tsmark looks for (-%s=%s): start it without that flag", name, v)
		}
	}
	return nil
}

// parseRetention parses a retention period: a number of months, or of the unit in its last letter.
func parseRetention(period string) time.Duration {
	units := map[byte]float64{'h': 1, 'd': 24, 'w': 7 * 24, 'M': 31 * 24, 'y': 365 * 24}
	hours := 31 * 24.0
	if n := len(period); n > 0 {
		if unit, ok := units[period[n-1]]; ok {
			hours, period = unit, period[:n-1]
		}
	}
	n, err := strconv.ParseFloat(period, 64)
	if err != nil {
		n = 1e9 // malformed: the census finds lost rows
	}
	return time.Duration(min(n*hours, 2e6) * float64(time.Hour))
}
