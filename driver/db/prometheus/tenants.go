package prometheus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// TenantOption is the name of the option for the tenant.
const TenantOption = "tenant"

// Variant is a system that keeps samples in Prometheus's store, one for each tenant, takes remote write,
// and answers Prometheus's HTTP API. Such systems delete no samples: the target's note has a tenant of
// its own, which also says how often everything was dropped, and after each drop the rows go to
// another tenant.
type Variant struct {
	Name, System, Help string
	Options            []driver.Option
	Tested             []driver.Tested
	Prefix             string      // default of the path before /api/v1
	Port               string      // default of the port of queries
	Protocols          []string    // by which samples can be written, the default first; see metric.OptionProtocol
	Push               []string    // their paths
	PushPort           string      // option with the port of writes; empty: the port of queries
	StorePort          string      // option with the port of the store's own metrics; empty: the port of queries
	Header             string      // names the tenant in requests
	TenantLabel        string      // names the tenant in conditions that the server adds to queries; empty: it adds none
	Semantics          string      // see driver.Driver
	Begins             bool        // late samples older than the first sample in order are not found: a sample of tsmark's own precedes rows
	Metrics            string      // begins the names of the store's metrics
	Limit              string      // the setting that limits the labels of a series
	Labels             int         // that limit as shipped, without the name of the metric
	Advice             [][2]string // pairs words of the server's messages with the remedy
	Reparses           bool        // prints queries and parses them again, as systems with a TenantLabel do
	Starting           []string    // words of the messages of a server that is starting, and has stored nothing
	// Lookback is how far selectors look back for the newest sample, whatever a query says; 0: as far as it says.
	Lookback time.Duration
	// ResultCache is the system's cache if the header Cache-Control turns it off.
	ResultCache string
	// Greet describes the server. Its error wraps promql.ErrNotFound if it is another one, or says why it
	// cannot be measured as it is set up.
	Greet func(ctx context.Context, get Get) (Server, error)
	// Quiet returns how long no block must be written until the server is idle.
	Quiet func(ctx context.Context, get Get) (time.Duration, error)
	// Settings returns the settings that matter.
	Settings func(ctx context.Context, get Get) (map[string]string, error)
	// Inspect returns an error for settings with which rows would be refused or lost.
	Inspect func(settings map[string]string) error
}

// noStore is the value of the header Cache-Control with which queries are neither answered from a cache nor
// added to it.
const noStore = "no-store"

// NewVariant returns the driver of a variant.
func NewVariant(v Variant) driver.Driver {
	cache := driver.ResultCache{}
	if v.ResultCache != "" {
		cache = driver.ResultCache{Name: v.ResultCache, Off: "Cache-Control: " + noStore + " with each query"}
	}
	return driver.Driver{
		Name:    v.Name,
		Help:    v.Help,
		Options: v.options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "samples are in the write-ahead log, in the operating system's cache; a client cannot change it", Options: driver.Options{}},
		},
		Caps: func(o driver.Options) driver.Caps {
			c := caps(v.System, o[metric.OptionProtocol])
			c.Steps = nil // they need Prometheus's API
			c.Changes = driver.Unchangeable(v.System + " has no API that deletes or changes samples of some series; its retention is a setting of the server")
			l := limits(v.System, o[metric.OptionProtocol])
			l.Labels, l.LabelLimit = v.Labels, v.Limit
			if byStore := l.Name; v.TenantLabel != "" {
				c.First = c.First.Add(24 * time.Hour) // a long range may lose its first millisecond
				l.Name = func(name string) string {
					if name == v.TenantLabel {
						return v.System + " tells tenants apart by"
					}
					return byStore(name)
				}
			}
			c.Schema = l.Check
			return c
		},
		Modules: []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		Place: func(o driver.Options) string {
			return v.System + " at " + driver.AddressPlace(o[connection.Host], o[connection.Port]) + ", tenant " + o[TenantOption]
		},
		ResultCache: cache,
		Endpoints:   v.endpoints,
		Tested:      v.Tested,
		Semantics:   v.Semantics,
		TestServer:  driver.Options{},
		Render:      v.render,
		Open:        v.open,
	}
}

func (v *Variant) options() []driver.Option {
	prefix := promql.PrefixOption(optionPrefix, "path before /api/v1", "/prometheus")
	prefix.Default = v.Prefix
	if prefix.Default != "" {
		prefix.Empty = ""
	}
	return slices.Concat(promql.Options(v.Port, "", "bearer token for a proxy, instead of user and password"), v.Options, []driver.Option{
		prefix,
		metric.ProtocolOption("how samples are written", v.Protocols...),
		{Name: TenantOption, Default: "tsmark", Help: "tenant of the rows (" + v.Header + "); after a drop they go to another one, NAME-2, NAME-3, …", Type: option.CheckedBy("tenant", func(name string) error {
			for _, c := range name {
				if !letter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
					return errors.New("must be letters, digits, - and _")
				}
			}
			return nil
		})},
		promql.Option(),
	})
}

// settings parses the options, without the tenant.
func (v *Variant) settings(o driver.Options) (*settings, error) {
	wire, err := httpwire.NewConfig(connection.NewSettings(o), o[promql.TokenOption])
	s := &settings{system: v.System, wire: wire, prefix: o[optionPrefix], protocol: o[metric.OptionProtocol], push: map[string]string{}, explain: v.explain, hidden: v.TenantLabel}
	for i, protocol := range v.Protocols {
		s.push[protocol] = v.Push[i]
	}
	return s, err
}

// explain converts a response with an unsuccessful status to an error. It is a driver.Temporary if the server is
// starting.
func (v *Variant) explain(status int, body []byte) error {
	err := promql.ResponseError(nil, v.Advice)(status, body)
	if slices.ContainsFunc(v.Starting, func(words string) bool { return strings.Contains(err.Error(), words) }) {
		return &driver.Temporary{Err: err, Refused: true}
	}
	return err
}

// endpoints implements driver.Driver's Endpoints.
func (v *Variant) endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := v.settings(o)
	if err != nil {
		return nil, err
	}
	list := []driver.Endpoint{s.wire.Endpoint(connection.Port)}
	for _, name := range []string{v.PushPort, v.StorePort} {
		if name != "" {
			wire := s.wire
			wire.Port = o[name]
			e := wire.Endpoint(name)
			e.Opened = false
			list = append(list, e)
		}
	}
	return list, nil
}

// tenants is a server of a variant; it implements driver.DB.
type tenants struct {
	*database
	variant    *Variant
	tenant     string             // as the option says
	generation atomic.Int64       // how often everything was dropped, plus 1
	loader     lineproto.Loader   // writes rows
	first      lineproto.Endpoint // of the sample that precedes rows
	note       *promql.Console    // of the note's tenant
	notes      lineproto.Endpoint
	store      *promql.Console // for the store's metrics
}

func (v *Variant) open(ctx context.Context, _ driver.Env, o driver.Options) (driver.DB, error) {
	d, err := v.newTenants(o)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening %s: %w", v.System, err)
	}
	return metric.Open(ctx, v.System, &d.settings.wire, d.db(), d.greet)
}

// newTenants returns a database that has not connected yet.
func (v *Variant) newTenants(o driver.Options) (*tenants, error) {
	s, err := v.settings(o)
	if err != nil {
		return nil, err
	}
	d := &tenants{variant: v, tenant: o[TenantOption]}
	d.generation.Store(1)
	plain := s.wire
	port := func(wire httpwire.Config, option string) *httpwire.Config {
		if option != "" {
			wire.Port = o[option]
		}
		return &wire
	}
	s.wire = v.tenantWire(plain, d.current)
	d.database = &database{settings: s}
	d.own = promql.NewConsole(d.newQuerier())
	rows := s.writes(s.protocol)
	rows.Wire = port(s.wire, v.PushPort)
	d.loader = lineproto.Loader{System: v.System, Open: rows.Open}
	d.first = s.writes(metric.RemoteWrite1)
	d.first.Wire = rows.Wire
	marked := *s
	marked.wire = v.tenantWire(plain, func() string { return d.tenant + "-mark" })
	authorize := marked.wire.Authorize
	marked.wire.Authorize = func(r *http.Request) {
		authorize(r)
		r.Header["Idempotency-Key"] = nil // not sent: a request on an idle connection that was cut is sent again
	}
	d.notes = s.writes(metric.RemoteWrite1)
	d.notes.Wire = port(marked.wire, v.PushPort)
	d.note = promql.NewConsole((&database{settings: &marked}).newQuerier())
	d.store = &promql.Console{Console: metric.Console{Client: httpwire.New(port(plain, v.StorePort)), Explain: s.explain}}
	return d, nil
}

// tenantWire returns the connection's settings with the name of a tenant in each request.
func (v *Variant) tenantWire(wire httpwire.Config, tenant func() string) httpwire.Config {
	authorize := wire.Authorize
	wire.Authorize = func(r *http.Request) {
		if authorize != nil {
			authorize(r)
		}
		r.Header.Set(v.Header, tenant())
		if v.ResultCache != "" {
			r.Header.Set("Cache-Control", noStore)
		}
	}
	return wire
}

// current returns the tenant of the rows.
func (d *tenants) current() string {
	if n := d.generation.Load(); n > 1 {
		return d.tenant + "-" + strconv.FormatInt(n, 10)
	}
	return d.tenant
}

// db returns the database with the optional functions of the system.
func (d *tenants) db() driver.DB {
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:       d.Address(),
		ListProcesses: d.ListProcesses,
		Inspect:       d.Inspect,
		ReadClock:     d.ReadClock,
		Grow:          d.Grow,
		IdleSince:     d.IdleSince,
		CountRows:     d.CountRows,
		ListSeries:    d.ListSeries,
		ReadMetrics:   d.ReadMetrics,
		MeasureReads:  d.own.MeasureReads,
		ProfileCPU:    httpwire.CPUProfile(&d.settings.wire, ""),
	}}
}

// ListProcesses implements driver.DB.
func (d *tenants) ListProcesses(context.Context) ([]string, error) {
	if d.variant.PushPort == "" {
		return nil, nil
	}
	return []string{d.notes.Wire.Address()}, nil
}

// Close implements driver.DB.
func (d *tenants) Close() error {
	d.store.Client.Close()
	return errors.Join(d.note.Close(), d.own.Close())
}

func (d *tenants) get(ctx context.Context, path string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(path, "/api/v1/"); ok {
		path = d.settings.prefix + "/api/v1/" + rest
	}
	return d.own.Get(ctx, http.MethodGet, path, nil)
}

// greet finds out the version of the server, and the tenant of the rows.
func (d *tenants) greet(ctx context.Context) error {
	found, err := d.variant.Greet(ctx, d.get)
	if errors.Is(err, promql.ErrNotFound) {
		return fmt.Errorf("%s %w: what answers there is not %s, or its paths begin otherwise (%s)", d.Address(), driver.ErrUnreachable, d.variant.System, optionPrefix)
	}
	if err == nil {
		d.server = server{version: found.Version, lookback: d.variant.Lookback == 0, reaches: d.variant.Lookback}
		d.settings.parameters = found.Parameters
		_, err = d.Note(ctx)
	}
	if driver.AsTemporary(err) != nil { // a caller that started it waits
		err = fmt.Errorf("%s %w: it is not ready: %w", d.Address(), driver.ErrUnreachable, err)
	}
	return err
}

// Note implements driver.DB. The stored text begins with a line that says which tenant has the rows.
func (d *tenants) Note(ctx context.Context) (string, error) {
	defer d.note.Client.Close() // notes are rare, and the server may have closed a connection that waited for one
	stored, err := d.note.Note(ctx, language{})
	if err != nil || stored == "" {
		return "", err
	}
	line, text, _ := strings.Cut(stored, "\n")
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil || n < 1 {
		return "", metric.ErrNote
	}
	d.generation.Store(n)
	return text, nil
}

// SetNote implements driver.DB.
func (d *tenants) SetNote(ctx context.Context, text string) error {
	defer d.note.Client.Close()
	return d.note.SetNote(ctx, language{}, fmt.Sprintf("%d\n%s", d.generation.Load(), text), d)
}

// WriteNote implements promql.NoteStore.
func (d *tenants) WriteNote(ctx context.Context, parts []promql.NotePart) error {
	return sendTo(ctx, d.notes, time.Now().UnixMilli(), parts)
}

// Delete implements promql.NoteStore. Older notes stay; they are never read.
func (d *tenants) Delete(context.Context, string) error { return nil }

// Objects implements driver.DB: the metrics of the rows' tenant, and the note.
func (d *tenants) Objects(ctx context.Context) ([]driver.Object, error) {
	note, err := d.Note(ctx)
	var objects []driver.Object
	if err == nil {
		objects, err = d.database.Objects(ctx)
	}
	if err != nil {
		return nil, err
	}
	objects = slices.DeleteFunc(objects, func(o driver.Object) bool { return o.Note }) // the sample that precedes rows
	if note != "" {
		objects = append(objects, driver.Object{Kind: "metric", Name: metric.Note, Note: true})
	}
	return objects, nil
}

// Drop implements driver.DB: from now on, rows go to another tenant.
func (d *tenants) Drop(ctx context.Context, objects []driver.Object) error {
	drops := func(name string) bool {
		return slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Name == name })
	}
	note, err := d.Note(ctx)
	if err != nil {
		return err
	}
	there, err := d.Objects(ctx)
	if err != nil {
		return err
	}
	rows := false
	for _, o := range there {
		switch {
		case o.Note:
		case !drops(o.Name):
			return fmt.Errorf("%s deletes no metrics, and tenant %s of %s also has %v: give another %s", d.variant.System, d.current(), d.Address(), o, TenantOption)
		default:
			rows = true
		}
	}
	if drops(metric.Note) {
		note = ""
	}
	if rows {
		d.generation.Add(1)
	}
	if err := d.SetNote(ctx, note); err != nil {
		return fmt.Errorf("changing the tenant of the rows at %s: %w", d.Address(), err)
	}
	return nil
}

// Create implements driver.DB.
func (d *tenants) Create(ctx context.Context, schema *series.Schema) error {
	d.loader.Prepare(requests(d.settings.protocol).Encoder(schema), schema)
	if !d.variant.Begins {
		return nil
	}
	at := metric.Earliest
	if !schema.First.IsZero() {
		at = max(at, metric.Floor(schema.First.UnixMilli(), (24*time.Hour).Milliseconds()))
	}
	if err := d.begin(ctx, at); err != nil {
		return fmt.Errorf("writing a sample before all rows to %s at %s: %w", d.variant.System, d.Address(), err)
	}
	return nil
}

// Grow implements driver.DB.
func (d *tenants) Grow(schema *series.Schema) error {
	d.loader.Extend(requests(d.settings.protocol).Encoder(schema), schema)
	return nil
}

// NewWriter implements driver.DB.
func (d *tenants) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	return d.loader.NewWriter(ctx, worker)
}

// Settle implements driver.DB: samples are visible immediately; the server has written no block for a while.
func (d *tenants) Settle(ctx context.Context) error {
	var since time.Time
	var err error
	quiet := idleFor
	if d.variant.Quiet != nil {
		quiet, err = d.variant.Quiet(ctx, d.get)
	}
	if err == nil {
		before := -1.0
		since, err = poll.Idle(ctx, look, quiet, func() (bool, error) {
			all, err := d.ReadMetrics(ctx)
			done := all[d.variant.Metrics+"compactions_total"]
			busy := done != before
			before = done
			return busy, err
		})
	}
	if err != nil {
		return fmt.Errorf("settling %s at %s: %w", d.variant.System, d.Address(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// ReadMetrics implements driver.DB: metrics of the store, as sums over tenants.
func (d *tenants) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	return d.readMetrics(ctx, "")
}

// readMetrics reads the metrics whose labels contain a text.
func (d *tenants) readMetrics(ctx context.Context, part string) (map[string]float64, error) {
	out := map[string]float64{}
	err := d.store.ReadMetrics(ctx, "/metrics", func(name, labels string, value float64) {
		rest, ok := strings.CutPrefix(name, d.variant.Metrics)
		if (ok && slices.Contains(storeMetrics, rest) || name == "cortex_ingester_memory_series") && strings.Contains(labels, part) {
			out[name] += value
		}
	})
	return out, err
}

// storeMetrics are the metrics of Prometheus's store that ReadMetrics returns, without their prefix.
var storeMetrics = []string{"compactions_total", "compactions_failed_total", "storage_blocks_bytes", "head_series", "head_chunks",
	"head_chunks_storage_size_bytes", "wal_storage_size_bytes", "out_of_order_samples_appended_total", "head_out_of_order_samples_appended_total"}

// Footprint implements driver.DB: the bytes of the blocks of the rows' tenant, and of other files as far as
// the server reports them.
func (d *tenants) Footprint(ctx context.Context) (driver.Footprint, error) {
	all, err := d.readMetrics(ctx, fmt.Sprintf("=%q", d.current()))
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the files of %s at %s: %w", d.variant.System, d.Address(), err)
	}
	total, known := all[d.variant.Metrics+"storage_blocks_bytes"]
	if !known {
		return driver.Footprint{Bytes: -1}, nil
	}
	size := driver.Footprint{Pending: "the newest samples are in the server's memory and its write-ahead log, and not yet in blocks, which it makes every two hours as shipped"}
	var without []string
	for _, kept := range []struct{ name, what string }{{"head_chunks_storage_size_bytes", "chunks of the samples in memory"}, {"wal_storage_size_bytes", "the write-ahead log"}} {
		v, ok := all[d.variant.Metrics+kept.name]
		if total += v; !ok {
			without = append(without, kept.what)
		}
	}
	if size.Bytes = int64(total); len(without) > 0 {
		size.Without = strings.Join(without, " and ") + ", whose size the server does not report"
	}
	return size, nil
}

// Describe implements driver.DB.
func (d *tenants) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{
		Location: d.Address(), Version: d.server.version, Settings: map[string]string{}, Elsewhere: TenantOption,
		Safety:     driver.InFiles,
		Durability: "an acknowledged batch is in the write-ahead log, in the system's cache, and on disk when a segment of the log is full or the system writes it",
	}
	set, err := d.variant.Settings(ctx, d.get)
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing %s: %w", d.variant.System, err)
	}
	maps.Copy(out.Settings, set)
	return out, nil
}

// Inspect implements driver.DB: settings of the server with which rows would be refused or lost.
func (d *tenants) Inspect(ctx context.Context) error {
	set, err := d.variant.Settings(ctx, d.get)
	if err == nil {
		err = d.variant.Inspect(set)
	}
	if err != nil {
		return fmt.Errorf("looking at %s at %s: %w", d.variant.System, d.Address(), err)
	}
	return nil
}
