// Package expose serves a dataset of metrics to a scraper, such as Prometheus, in real time: each target has a
// path, and a list of the targets is in the form of Prometheus's HTTP service discovery.
//
// An interval of the dataset passes in an interval of the clock. At its start all its samples replace those before,
// without timestamps, so that the times are those at which the scraper reads. A series that the dataset marks as
// stale is absent. A target without any series, whose scrape failed in the dataset, answers 503; after two such
// intervals it is neither listed nor found.
//
// The labels job and instance are in the list, since a scraper adds them to each sample. Metrics that a scraper
// writes itself, such as up, are left out, and so are native histograms, which no text format has.
package expose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// batchRows is the number of rows that are read at a time.
const batchRows = 10_000

// gone is the number of intervals without series after which a target is not listed.
const gone = 2

// Exporter holds the newest sample of each series. It implements http.Handler.
type Exporter struct {
	reader   workload.Reader
	start    time.Time // of the dataset
	interval time.Duration
	tables   []exposed // in the order of their series
	skipped  []string

	// The batch whose rows are applied, and its first row that was not.
	batch    series.Batch
	run, row int

	mu      sync.RWMutex
	epoch   int64     // the interval that is served
	values  []float64 // by series
	alive   []bool
	owners  []int32 // targets, from 1; 0: unknown
	targets []*target
	index   map[string]int32 // by job and instance
	text    []byte
}

// exposed is a table that is served.
type exposed struct {
	*series.Table
	labels func(dst []byte, of uint32) []byte
}

// target is a target of a scraper.
type target struct {
	job, instance string
	series        []uint32
	sorted        bool
	alive         int   // number of series
	seen          int64 // newest interval with series
}

// New returns an exporter of the dataset, whose intervals are counted from start. It serves nothing before Advance.
func New(d workload.Dataset, start time.Time, interval time.Duration) (*Exporter, error) {
	s := d.Schema()
	e := &Exporter{
		reader: d.Open(), start: start, interval: interval, index: map[string]int32{},
		values: make([]float64, s.Series), alive: make([]bool, s.Series), owners: make([]int32, s.Series),
	}
	for _, t := range s.Tables {
		if t.Metric == nil || t.Tag("job") == nil || t.Tag("instance") == nil {
			return nil, fmt.Errorf("table %s is not a metric with the labels job and instance; expose a workload of metrics", t.Name)
		}
		if t.Metric.Native != nil {
			e.skipped = append(e.skipped, t.Name)
		}
		if !served(t) {
			continue
		}
		e.tables = append(e.tables, exposed{t, encode.ExposedLabels(t, "job", "instance")})
	}
	slices.SortFunc(e.tables, func(a, b exposed) int { return int(int64(a.Range.First) - int64(b.Range.First)) })
	return e, nil
}

// served reports whether a table is neither of native histograms nor of samples that a scraper makes itself.
func served(t *series.Table) bool {
	return t.Metric.Native == nil && t.Name != "up" && !strings.HasPrefix(t.Name, "scrape_")
}

// NativeHistograms returns the names of the native histograms, which are not served.
func (e *Exporter) NativeHistograms() []string { return e.skipped }

// Run serves one interval after the other, after the first one, until the dataset or the context ends.
func (e *Exporter) Run(ctx context.Context) error {
	begin := time.Now()
	for epoch := int64(1); ; epoch++ {
		wait := time.NewTimer(time.Until(begin.Add(time.Duration(epoch) * e.interval)))
		select {
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		case <-wait.C:
		}
		if err := e.Advance(epoch); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the dataset: %w", err)
		}
	}
}

// Advance reads the samples of an interval. It returns io.EOF if the dataset has no more.
func (e *Exporter) Advance(epoch int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	begin := e.start.Add(time.Duration(epoch) * e.interval).UnixNano()
	end := begin + int64(e.interval)
	read := false
	for {
		for ; e.run < len(e.batch.Runs); e.run, e.row = e.run+1, 0 {
			run := &e.batch.Runs[e.run]
			for ; e.row < run.Rows(); e.row++ {
				if run.Times[e.row] >= end {
					e.epoch = epoch
					return nil
				}
				read = true
				if run.Times[e.row] >= begin && served(run.Table) { // others arrive late
					e.apply(run, e.row, epoch)
				}
			}
		}
		e.run, e.row = 0, 0
		if err := e.reader.Next(&e.batch, batchRows); errors.Is(err, io.EOF) && read {
			e.epoch = epoch
			return nil
		} else if err != nil {
			return err
		}
	}
}

// apply replaces the sample of a series by that of a row.
func (e *Exporter) apply(run *series.Run, row int, epoch int64) {
	of := run.Series[row]
	if e.owners[of] == 0 {
		e.owners[of] = e.ownerOf(run.Table, of)
		t := e.targets[e.owners[of]-1]
		t.series, t.sorted = append(t.series, of), false
	}
	t := e.targets[e.owners[of]-1]
	alive := !run.Lacks(0, row)
	if alive != e.alive[of] {
		e.alive[of] = alive
		if t.alive--; alive {
			t.alive += 2
		}
	}
	if alive {
		e.values[of], t.seen = run.Columns[0].Floats[row], epoch
	}
}

// ownerOf returns the target of a series.
func (e *Exporter) ownerOf(t *series.Table, of uint32) int32 {
	job, _ := t.Tag("job").Values.Append(e.text[:0], of)
	n := len(job)
	key, _ := t.Tag("instance").Values.Append(append(job, 0), of)
	e.text = key
	number, ok := e.index[string(key)]
	if !ok {
		e.targets = append(e.targets, &target{job: string(key[:n]), instance: string(key[n+1:])})
		number = int32(len(e.targets))
		e.index[string(key)] = number
	}
	return number
}

// ServeHTTP implements http.Handler: /targets is the list for http_sd_configs, and /metrics/N a target.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, isTarget := strings.CutPrefix(r.URL.Path, "/metrics/")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "/targets":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(e.list(r.Host)) // an error means that the scraper has left
	case isTarget:
		open := strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text")
		page, status := e.page(text, open)
		kind := "text/plain; version=0.0.4; charset=utf-8"
		if open {
			kind = "application/openmetrics-text; version=1.0.0; charset=utf-8"
		}
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(page)
	default:
		http.Error(w, "the list of targets is at /targets", http.StatusNotFound)
	}
}

// listed reports whether a target has had series lately.
func (e *Exporter) listed(t *target) bool { return e.epoch-t.seen < gone }

// group is a target in the form of HTTP service discovery.
type group struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// list returns the targets at an address.
func (e *Exporter) list(host string) []group {
	e.mu.RLock()
	defer e.mu.RUnlock()
	groups := []group{}
	for i, t := range e.targets {
		if e.listed(t) {
			groups = append(groups, group{[]string{host}, map[string]string{
				"__metrics_path__": "/metrics/" + strconv.Itoa(i), "job": t.job, "instance": t.instance,
			}})
		}
	}
	return groups
}

// page returns the text of a target, with the status of the response.
func (e *Exporter) page(number string, open bool) ([]byte, int) {
	e.mu.Lock() // a target's series may have to be sorted
	defer e.mu.Unlock()
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n >= uint64(len(e.targets)) || !e.listed(e.targets[n]) {
		return nil, http.StatusNotFound
	}
	t := e.targets[n]
	if t.alive == 0 {
		return nil, http.StatusServiceUnavailable
	}
	if !t.sorted {
		slices.Sort(t.series)
		t.sorted = true
	}
	var out []byte
	at, family := -1, ""
	for _, of := range t.series {
		if !e.alive[of] {
			continue
		}
		for at < 0 || !e.tables[at].Range.Has(of) {
			at++
		}
		table := &e.tables[at]
		if table.Metric.Family != family {
			family = table.Metric.Family
			out = encode.AppendFamily(out, table.Table, open)
		}
		out = table.labels(append(out, table.Name...), of)
		out = append(encode.AppendExposed(append(out, ' '), e.values[of]), '\n')
	}
	if open {
		out = append(out, "# EOF\n"...)
	}
	return out, http.StatusOK
}
