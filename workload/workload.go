// Package workload defines the workloads of benchmarks: a dataset that can be reproduced from its
// specification, and the queries that make sense for it.
package workload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"math"
	"math/bits"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Spec determines a dataset: equal specifications always give equal rows. The names and meanings of
// the settings are those of TSBS's generator.
type Spec struct {
	Name         string        `json:"name" yaml:"name"`                                        // workload, such as cpu-only
	Seed         int64         `json:"seed" yaml:"seed"`                                        // of the random stream
	Scale        uint32        `json:"scale" yaml:"scale"`                                      // series at the end: hosts, trucks
	InitialScale uint32        `json:"initial_scale,omitempty" yaml:"initial-scale,omitempty"`  // series in the first epoch; 0: Scale
	Start        time.Time     `json:"start" yaml:"timestamp-start"`                            // first epoch
	End          time.Time     `json:"end" yaml:"timestamp-end"`                                // exclusive
	Interval     time.Duration `json:"interval" yaml:"log-interval"`                            // between epochs
	MaxPoints    uint64        `json:"max_points,omitempty" yaml:"max-data-points,omitempty"`   // rows at most, inactive series counted; 0: all
	MaxMetrics   uint32        `json:"max_metrics,omitempty" yaml:"max-metric-count,omitempty"` // devops-generic: metrics of a host at most; 0: 100
	Groups       uint32        `json:"groups,omitempty" yaml:"interleaved-generation-groups,omitempty"`
	Group        uint32        `json:"group,omitempty" yaml:"interleaved-generation-group-id,omitempty"` // index of the group to emit, of Groups
	Limit        int64         `json:"limit,omitempty" yaml:"-"`                                         // rows loaded at most: a setting of the load; 0: all

	// How Arrange changes the rows; 0: not at all.
	Records   uint32 `json:"records,omitempty" yaml:"records-per-device,omitempty"` // rows of a series in a table at most
	InARow    uint32 `json:"in_a_row,omitempty" yaml:"rows-in-a-row,omitempty"`     // intervals of a series before the next series
	NewTags   uint32 `json:"new_tags,omitempty" yaml:"new-tags,omitempty"`          // of each table, that appear after a third of the time
	NewFields uint32 `json:"new_fields,omitempty" yaml:"new-fields,omitempty"`      // of each table, that appear after two thirds of the time

	Settings Settings `json:"settings,omitempty" yaml:",inline"` // the workload's own settings

	// QuerySettings are the parameters of the workload's queries, which are no
	// part of the dataset.
	QuerySettings Settings `json:"-" yaml:"-"`
	// QuerySeed is the seed of the queries' random stream. It is not part of the dataset. 0: Seed,
	// which TSBS uses for its queries.
	QuerySeed int64 `json:"-" yaml:"-"`
}

// DrawingSeed is the seed by which queries are drawn.
func (s Spec) DrawingSeed() int64 { return cmp.Or(s.QuerySeed, s.Seed) }

// RowsAtMost returns an upper bound of the rows of a dataset whose epochs have at most perEpoch
// rows. It is exact unless series begin late or rows are dealt to groups.
func (s Spec) RowsAtMost(perEpoch uint64) int64 {
	epochs := uint64(s.End.Sub(s.Start) / s.Interval)
	if s.Records > 0 {
		epochs = min(epochs, uint64(s.Records))
	}
	over, rows := bits.Mul64(epochs, perEpoch)
	if over > 0 || rows > math.MaxInt64 {
		rows = math.MaxInt64
	}
	if s.MaxPoints > 0 {
		rows = min(rows, s.MaxPoints)
	}
	groups := uint64(max(s.Groups, 1))
	return int64(rows/groups + min(rows%groups, 1))
}

// Values describes the values of a dataset whose rows are at its epochs and whose other values have
// no traits.
func (s Spec) Values() series.Values {
	return series.Values{First: s.Start, Last: s.End, Step: Divisor(s.Interval, time.Duration(s.Start.UnixNano()))}
}

// Divisor returns the greatest common divisor.
func Divisor[T ~int64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// LimitRows returns the dataset's first rows only.
func LimitRows(d Dataset, rows int64) Dataset { return limited{d, rows} }

type limited struct {
	Dataset
	rows int64
}

func (l limited) Open() Reader { return &limitedReader{l.Dataset.Open(), l.rows} }

// OnRow implements Momentary.
func (l limited) OnRow(q *query.Query, before time.Time) { OnRow(l.Dataset, q, before) }

type limitedReader struct {
	Reader
	left int64
}

func (l *limitedReader) Next(b *series.Batch, max int) error {
	if l.left == 0 {
		b.Reset()
		return io.EOF
	}
	err := l.Reader.Next(b, int(min(int64(max), l.left)))
	l.left -= int64(b.Rows())
	return err
}

// generatorVersion is raised whenever the same Spec begins to give other rows.
const generatorVersion = 1

// Fingerprint identifies a dataset of the workload: the first 16 hexadecimal
// digits of the SHA-256 of the canonical specification and the generator's version.
func Fingerprint(w Workload, s Spec) string {
	initial, groups := s.InitialScale, s.Groups
	if initial == 0 {
		initial = s.Scale
	}
	if groups == 0 {
		groups = 1
	}
	text := fmt.Appendf(nil, "tsmark %d\n%s seed=%d scale=%d initial=%d start=%d end=%d interval=%d max=%d group=%d/%d limit=%d\n",
		generatorVersion, s.Name, s.Seed, s.Scale, initial, s.Start.UnixNano(), s.End.UnixNano(), s.Interval, s.MaxPoints, s.Group, groups, s.Limit)
	if s.MaxMetrics > 0 {
		text = fmt.Appendf(text, "metrics=%d\n", s.MaxMetrics)
	}
	if s.Records > 0 {
		text = fmt.Appendf(text, "records=%d\n", s.Records)
	}
	if s.InARow > 1 {
		text = fmt.Appendf(text, "in-a-row=%d\n", s.InARow)
	}
	if s.NewTags > 0 || s.NewFields > 0 {
		text = fmt.Appendf(text, "new-tags=%d new-fields=%d\n", s.NewTags, s.NewFields)
	}
	text = append(text, w.Describe(s).Identity...)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Dataset is a deterministic stream of batches.
type Dataset interface {
	// Schema describes the tables and series. It is the same value at each call.
	Schema() *series.Schema
	// Open starts a pass over the rows from the first one. Readers are
	// independent of each other.
	Open() Reader
}

// Reader is one pass over a dataset. It is used by one goroutine.
type Reader interface {
	// Next empties the batch and fills it with the next rows, at most max
	// (max ≥ 1). It returns io.EOF, with an empty batch, after the last row.
	Next(b *series.Batch, max int) error
}

// QueryType is one kind of query that a workload has.
type QueryType struct {
	Name string // such as single-groupby-1-1-1
	Help string // one line that describes the query
	Core bool   // the type represents others like it
	// Compliance means that the type covers a part of a query language and represents no user's work.
	// It runs only if it is selected.
	Compliance bool
}

// Workload is a dataset and its queries.
type Workload interface {
	// Name is the value of --use-case and of an experiment's workload.name.
	Name() string
	// Help is one line for users.
	Help() string
	// Settings returns the settings of its datasets in addition to those of every Spec, and
	// QuerySettings the parameters of its queries.
	Settings() []option.Option
	QuerySettings() []option.Option
	// Check returns a *SpecError if no dataset can be generated from the specification. The error
	// names the setting and how to fix it.
	Check(Spec) error
	// Describe returns the known properties of the dataset without generating it, and the zero
	// value if Check rejects the specification.
	Describe(Spec) Description
	// Dataset generates the dataset of a specification that Check accepts.
	Dataset(Spec) (Dataset, error)
	// QueryTypes lists the queries in the order in which they run.
	QueryTypes() []QueryType
	// Queries returns the first n queries of a type, drawn one by one, so that a million of them
	// need no memory; each pass over the sequence draws them again. The draws depend only on the
	// specification, including its QuerySeed, and not on the target or on other types.
	Queries(spec Spec, queryType string, n int) (iter.Seq[query.Query], error)
}

// UnknownType returns the error for a query type that a workload does not have.
func UnknownType(w Workload, queryType string) error {
	var names []string
	for _, t := range w.QueryTypes() {
		names = append(names, t.Name)
	}
	return fmt.Errorf("unknown query type %q%s", queryType, suggest.Names(queryType, names))
}

// Texted is a Workload for whose queries another benchmark has its own texts, in the languages of
// some databases.
type Texted interface {
	Workload
	// Texts returns the first n texts of a type for a database, which is named as in the other
	// benchmark; text i is that of the query with ID i. If there are no texts the error wraps
	// query.ErrUnsupported and says so.
	Texts(format string, spec Spec, queryType string, n int) (iter.Seq[string], error)
}

// Spanned is a Workload that has no rows in the default span of experiments.
type Spanned interface {
	Workload
	// DefaultSpan returns the start and the end, exclusive, of its own default.
	DefaultSpan() (start, end time.Time)
}

// Description holds the known properties of a dataset that is not generated yet.
type Description struct {
	Values     series.Values
	Repeats    string // setting that makes times repeat, such as iotdb.duplicates; empty: they do not repeat
	RowsAtMost int64
	Memory     uint64 // least bytes that the dataset and one reader of it take
	// Identity is the workload's part of the fingerprint. It is the same for a default and for the
	// same value set explicitly.
	Identity string
	// Facts are short statements about the dataset for readers of a report, in addition to the
	// settings that every Spec has.
	Facts []string
	// Late describes how rows are late in their series. Empty: they come in the order of the
	// dataset's epochs, except as described for all rows together.
	Late string
}

// Repeating is a Dataset that may write the same time of a series again.
type Repeating interface {
	Dataset
	// Latest returns the dataset as stored by a system that keeps only the last row to arrive for a
	// series and time; the dataset itself if all rows are different.
	Latest() Dataset
}

// Dealt is a Dataset whose series can be dealt to clients that write concurrently. No two clients
// have a series in common.
type Dealt interface {
	Dataset
	// Deal returns the same rows in the order in which the clients send them if they alternate,
	// rows rows at a time. Both arguments are at least 1. No batch has rows of two clients. The
	// error says which number is impossible, and how to fix it.
	Deal(clients, rows int) (Dataset, error)
	// Client returns the client, counted from 0, that has a series.
	Client(series uint32, clients int) int
}

// Sharded is a dealt Dataset whose clients can read their own rows concurrently and independently.
type Sharded interface {
	Dataset
	// Shards returns the number of shards, one per client; less than 2: the dataset was not dealt.
	Shards() int
	// OpenShard starts a pass over the rows of a client, counted from 0, in the order of Open.
	OpenShard(client int) Reader
}

// Shards is Sharded's, where the dataset has it.
func Shards(d Dataset) int {
	if s, ok := d.(Sharded); ok {
		return s.Shards()
	}
	return 1
}

// Momentary is a Dataset that supports queries about one instant.
type Momentary interface {
	// OnRow moves a query about one instant to the time of the newest matching row at or before it;
	// if there is no such row, to the first matching one if that is before the given time. It
	// leaves other queries unchanged.
	OnRow(q *query.Query, before time.Time)
}

// OnRow is Momentary's, where the dataset has it.
func OnRow(d Dataset, q *query.Query, before time.Time) {
	if m, ok := d.(Momentary); ok {
		m.OnRow(q, before)
	}
}

// Surveyed is a Workload whose datasets are read from files. A pass over the files determines the
// properties that other workloads know from the specification.
type Surveyed interface {
	Workload
	// Survey makes that pass, once for equal specifications, and returns the specification with
	// everything it found: the omitted settings, and a digest that shows later whether the files
	// have changed. It calls progress with the rows of each part. Its error is a *SpecError,
	// including when the files differ from those of the specification.
	Survey(ctx context.Context, s Spec, progress func(rows int)) (Spec, error)
	// Notes returns what users should know about how the rows of a surveyed specification are read,
	// where settings were omitted: unexpected interpretations, and columns that are not loaded.
	// Each note is one line.
	Notes(s Spec) []string
}

// FromFiles is a Dataset whose rows are in files.
type FromFiles interface {
	Dataset
	// Files lists them in the order in which they are read.
	Files() []File
	// Reread returns the result of a second reader for a sample of the rows.
	Reread() Reread
}

// Reread describes a second reading of a sample of the rows of files, by a reader that shares no
// code with that of the load, before anything was loaded: no value differed.
type Reread struct {
	Reader  string   `json:"reader,omitempty"`  // the second reader, with its version; empty: none could read the rows
	Rows    int64    `json:"rows,omitempty"`    // that were compared
	Columns int      `json:"columns,omitempty"` // of these, in the file with most
	Skipped []string `json:"skipped,omitempty"` // values not compared, with the reason
}

// Lines describes r as text, line by line.
func (r *Reread) Lines() []string {
	var lines []string
	if r.Reader != "" {
		lines = append(lines, fmt.Sprintf("%s reads the same values in a sample of %s rows and up to %d columns", r.Reader, humanize.Comma(r.Rows), r.Columns))
	}
	for _, skipped := range r.Skipped {
		lines = append(lines, "not checked by a second reader: "+skipped)
	}
	return lines
}

// File is a file of rows.
type File struct {
	Name   string `json:"name"`   // as the specification or a folder has it
	Bytes  int64  `json:"bytes"`  // on disk
	Rows   int64  `json:"rows"`   // that are loaded
	SHA256 string `json:"sha256"` // of the bytes on disk, in hexadecimal digits
}

// Delayed is a Dataset whose rows may arrive late, by steps of a known length.
type Delayed interface {
	Dataset
	// Step is the time between two rows of a series.
	Step() time.Duration
}
