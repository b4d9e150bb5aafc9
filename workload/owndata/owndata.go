// Package owndata provides the workload own: a user's own rows, from CSV, JSON lines, line
// protocol, Parquet or Arrow files of any schema. docs/own-data.md is the user documentation.
//
// A survey reads all files before anything is loaded. It finds the series, which alone are kept in
// memory, all malformed values, and the properties that generated datasets know from their
// specification. Every pass over the rows reads the files again.
package owndata

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/witness"
)

// Name is the name of the workload.
const Name = "own"

// Workload returns the workload, which keeps the surveys that it has made. DuckDB is the second
// reader of some formats; nil: they are read once.
func Workload(d *witness.DuckDB) workload.Workload {
	return &own{duckdb: d, surveys: make(map[string]*survey)}
}

type own struct {
	duckdb  *witness.DuckDB
	mu      sync.Mutex
	surveys map[string]*survey // by the settings it was made from, and by those it found
}

// Name implements workload.Workload.
func (*own) Name() string { return Name }

// Help implements workload.Workload.
func (*own) Help() string {
	return "your own rows, from files of CSV, JSON, line protocol, Parquet, Arrow, OpenMetrics and others: see tsmark inspect"
}

// Settings implements workload.Workload.
func (*own) Settings() []option.Option { return options() }

// QuerySettings implements workload.Workload.
func (*own) QuerySettings() []option.Option { return nil }

// Check implements workload.Workload. It surveys the files unless that was done.
func (w *own) Check(s workload.Spec) error {
	_, err := w.survey(context.Background(), s, func(int) {})
	return err
}

// Survey implements workload.Surveyed.
func (w *own) Survey(ctx context.Context, s workload.Spec, progress func(rows int)) (workload.Spec, error) {
	found, err := w.survey(ctx, s, progress)
	if err != nil {
		return s, err
	}
	settings := workload.Settings{ownKey(setFiles): s.Settings[ownKey(setFiles)], ownKey(setContent): contentOf(found.files)}
	for key, value := range found.layout.settings() {
		settings[ownKey(key)] = value
	}
	s.Settings = settings
	s.Scale, s.InitialScale = found.schema.Series, 0
	s.Start, s.Interval = found.values.First, found.values.Step
	s.End = found.values.Last.Add(found.values.Step)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.surveys[key(s)] = found
	return s, nil
}

// Notes implements workload.Surveyed.
func (w *own) Notes(s workload.Spec) []string {
	if found := w.surveyOf(s); found != nil {
		return found.notes()
	}
	return nil
}

// ownKey is the name of a setting among those of all workloads.
func ownKey(setting string) string { return Name + "." + setting }

// QuoteFile is a file's name as the setting files has it.
func QuoteFile(name string) string {
	if strings.ContainsAny(name, `,"`) || strings.TrimSpace(name) != name {
		return strconv.Quote(name)
	}
	return name
}

// key returns the part of a specification that a survey depends on.
func key(s workload.Spec) string {
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.Settings)) {
		if k != ownKey(setContent) && s.Settings[k] != "" {
			fmt.Fprintf(&text, "%q=%q ", k, s.Settings[k])
		}
	}
	return text.String()
}

// surveyOf returns the survey of a specification; nil: none was made.
func (w *own) surveyOf(s workload.Spec) *survey {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.surveys[key(s)]
}

// survey returns the survey of a specification, which it makes unless it has. Its error is
// a *workload.SpecError.
func (w *own) survey(ctx context.Context, s workload.Spec, progress func(rows int)) (*survey, error) {
	v, err := s.Resolve(options())
	if err != nil {
		return nil, err
	}
	if err := onlyOwn(s); err != nil {
		return nil, err
	}
	found := w.surveyOf(s)
	if found != nil && found.checkUnchanged() != nil {
		found = nil
	}
	if found == nil {
		if found, err = makeSurvey(ctx, w.duckdb, v, progress); err != nil {
			return nil, specError(ctx, err)
		}
		w.mu.Lock()
		w.surveys[key(s)] = found
		w.mu.Unlock()
	}
	if content := contentOf(found.files); v[setContent] != "" && v[setContent] != content {
		return nil, workload.Bad(ownKey(setContent), "the files are not those of the experiment: their digest is %s, not %s; bring the same files, or leave %s out to take what there is",
			content, v[setContent], ownKey(setContent))
	}
	return found, nil
}

func makeSurvey(ctx context.Context, d *witness.DuckDB, v option.Values, progress func(rows int)) (*survey, error) {
	l, err := readLayout(v)
	if err != nil {
		return nil, err
	}
	if err := l.propose(ctx, progress); err != nil {
		return nil, err
	}
	found, err := take(ctx, d, l, progress)
	if err == nil && found.repeated > 0 && len(l.lost) > 0 {
		return nil, inSetting(setTags, fmt.Errorf("%s rows have the series and time of another row, which a column that is left out may tell apart: %s; write it as a text or a number, or name all tags (own.tags, --tags) to load the rows without it",
			humanize.Comma(found.repeated), l.lost[0]))
	}
	return found, err
}

// specError names the setting that an error is about.
func specError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	setting := setFiles
	var in *settingError
	if errors.As(err, &in) {
		setting = in.setting
	}
	return workload.Bad(ownKey(setting), "%v", err)
}

// onlyOwn returns an error for settings that are about generated rows.
func onlyOwn(s workload.Spec) error {
	for _, set := range []struct {
		name  string
		isSet bool
	}{
		{"max-data-points", s.MaxPoints > 0}, {"max-metric-count", s.MaxMetrics > 0}, {"interleaved-generation-groups", s.Groups > 0},
		{"records-per-device", s.Records > 0}, {"rows-in-a-row", s.InARow > 1}, {"new-tags", s.NewTags > 0}, {"new-fields", s.NewFields > 0},
	} {
		if set.isSet {
			return workload.Bad(set.name, "is for rows that are generated, not for those of --use-case %s; leave it out, or load fewer rows with --limit", Name)
		}
	}
	return nil
}

// checkUnchanged returns an error where a file was changed since.
func (s *survey) checkUnchanged() error {
	for _, f := range s.layout.files {
		if err := f.CheckUnchanged(); err != nil {
			return err
		}
	}
	return nil
}

// Describe implements workload.Workload. Of a specification that Survey returned it knows
// the most part without the files.
func (w *own) Describe(s workload.Spec) workload.Description {
	d := workload.Description{Identity: identity(s.Settings), RowsAtMost: 0}
	found := w.surveyOf(s)
	if found == nil {
		if s.Settings[ownKey(setContent)] == "" {
			return workload.Description{}
		}
		d.Values = s.Values()
		d.Values.Last = s.End.Add(-s.Interval)
		return d
	}
	pinned := workload.Settings{ownKey(setContent): contentOf(found.files)}
	for key, value := range found.layout.settings() {
		pinned[ownKey(key)] = value
	}
	d.Identity, d.Values, d.RowsAtMost = identity(pinned), found.values, found.rows
	if found.repeated > 0 {
		d.Repeats = ownKey(setFiles)
	}
	return d
}

// identity returns the settings that are part of the fingerprint after a survey: the digest of the
// files and how they are read. The location of the files is not part of it.
func identity(s workload.Settings) string {
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if k != ownKey(setFiles) {
			fmt.Fprintf(&text, "%s=%q\n", k, s[k])
		}
	}
	return text.String()
}

// Dataset implements workload.Workload.
func (w *own) Dataset(s workload.Spec) (workload.Dataset, error) {
	found, err := w.survey(context.Background(), s, func(int) {})
	if err != nil {
		return nil, err
	}
	return dataset{found, false}, nil
}

// QueryTypes implements workload.Workload. Arbitrary schemas have no predefined query types:
// ProposeQueries generates some for a dataset.
func (*own) QueryTypes() []workload.QueryType { return nil }

// Queries implements workload.Workload.
func (*own) Queries(_ workload.Spec, queryType string, _ int) (iter.Seq[query.Query], error) {
	return nil, fmt.Errorf("unknown query type %q: the dataset has neither a generated one nor a declared one of the name; write queries: {types: []} to load alone", queryType)
}

// Inspection is the output of tsmark inspect.
type Inspection struct {
	Spec  workload.Spec // with all settings: what an experiment holds
	Facts []string      // about the rows, a line each
	Notes []string      // of these, how rows are read otherwise than users may expect
}

// Inspect looks at files and proposes how they are read, as far as the settings of the
// specification do not say. The workload is one of this package. The error is a
// *workload.SpecError.
func Inspect(ctx context.Context, from workload.Workload, s workload.Spec, progress func(rows int)) (*Inspection, error) {
	w := from.(*own)
	s.Name = Name
	pinned, err := w.Survey(ctx, s, progress)
	if err != nil {
		return nil, err
	}
	found := w.surveyOf(pinned)
	return &Inspection{pinned, found.facts(), found.notes()}, nil
}

// fewRows is the number of rows from which the rows per series cannot be estimated.
const fewRows = 10

// notes returns what users should know about how rows are read.
func (s *survey) notes() []string {
	notes := slices.Clone(s.layout.notes)
	if c, err := input.NewClock(s.layout.timeFormat); err == nil && c.Layout != "" && s.zoneless > 0 && s.layout.timeZone == "" {
		notes = append(notes, fmt.Sprintf("%s times have no zone, and are taken as UTC; own.time-zone, or --time-zone, names another", humanize.Comma(s.zoneless)))
	}
	if s.skipped > 0 {
		notes = append(notes, fmt.Sprintf("%s times were skipped when the clocks of %s went forward, and are taken as if these had not", humanize.Comma(s.skipped), s.layout.timeZone))
	}
	if s.twice > 0 {
		notes = append(notes, fmt.Sprintf("%s times came twice when the clocks of %s went back, and are taken as the first of the two; write times with offsets to tell them apart", humanize.Comma(s.twice), s.layout.timeZone))
	}
	if s.layout.timeZone != "" && s.zoneless == 0 {
		notes = append(notes, fmt.Sprintf("no time is without an offset, so that the time zone %s has no effect", s.layout.timeZone))
	}
	if s.finer > 0 {
		notes = append(notes, fmt.Sprintf("%s times have digits beyond nanoseconds, which are cut off", humanize.Comma(s.finer)))
	}
	for _, t := range s.index.Tables {
		for i := range t.Tags {
			if n := s.emptyTags[input.TagPlace{Table: t, Place: i}]; n > 0 {
				notes = append(notes, fmt.Sprintf("tag %s of table %s is empty in %s rows, which is read as missing; a field holds empty texts", t.Tags[i].Key, t.Name, humanize.Comma(n)))
			}
		}
		if rows := s.tableRows[t.Place]; s.layout.tagsFound && rows >= fewRows && int64(2*len(t.Set.Number)) > rows {
			notes = append(notes, fmt.Sprintf("most series of table %s have one row: a tag may rather be a field, as %s with %s values; name the tags with own.tags, or --tags",
				t.Name, t.WidestTag(), humanize.Comma(int64(t.Set.Values[t.TagAt[t.WidestTag()]].Len()))))
		}
	}
	if s.others > 0 {
		notes = append(notes, fmt.Sprintf("%s rows of measurements that own.fields and own.table do not name are left out", humanize.Comma(s.others)))
	}
	return notes
}

// facts returns what users should know about the rows.
func (s *survey) facts() []string {
	var facts []string
	add := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	for _, f := range s.files {
		add("%s: %s, %s rows, sha256 %s", f.Name, humanize.IBytes(uint64(f.Bytes)), humanize.Comma(f.Rows), f.SHA256)
	}
	step := ""
	if s.values.Step > 1 && s.values.First.Before(s.values.Last) {
		step = fmt.Sprintf(", multiples of %v", s.values.Step)
	}
	add("times from %s to %s%s", s.values.First.Format(time.RFC3339Nano), s.values.Last.Format(time.RFC3339Nano), step)
	add("%s series, whose index takes %s of memory", humanize.Comma(int64(s.index.Series)), humanize.IBytes(uint64(s.index.Bytes())))
	facts = append(facts, s.reread.Lines()...)
	facts = append(facts, s.notes()...)
	if s.late > 0 {
		add("%s rows are out of order, by up to %v behind a newer row of their series", humanize.Comma(s.late), s.lateness)
	} else {
		add("the rows of each series are in order")
	}
	if s.repeated > 0 {
		add("%s rows have the series and time of a later row: systems that keep one row of each lose them; another tag may tell them apart", humanize.Comma(s.repeated))
	} else {
		add("no two rows have one series and time")
	}
	for _, t := range s.index.Tables {
		for f, n := range s.nulls[t.Place] {
			if n > 0 {
				add("field %s of table %s is missing in %s rows", t.Fields[f].Name, t.Name, humanize.Comma(n))
			}
			if field := &t.Fields[f]; field.Free() {
				add("field %s of table %s has texts of up to %s bytes", field.Name, t.Name, humanize.Comma(int64(field.Longest)))
			}
		}
	}
	return facts
}
