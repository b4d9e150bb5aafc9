package message

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Schema is a series.Schema. The values of tags come with the rows.
type Schema struct {
	Series uint32    `json:"series"` // number of series
	Tables []Table   `json:"tables"`
	First  time.Time `json:"first,omitzero"` // bounds of the times of rows; missing: unknown
	Last   time.Time `json:"last,omitzero"`
	StepNS int64     `json:"step_ns,omitempty"` // times are multiples of it
}

// Table is a table of a Schema.
type Table struct {
	Name   string  `json:"name"`
	Tags   []Tag   `json:"tags"`
	TagsOf string  `json:"tags_of,omitempty"` // the earlier table that has the same series
	Fields []Field `json:"fields"`
	Ragged bool    `json:"ragged,omitempty"` // rows of some series lack the last fields
	Dense  bool    `json:"dense,omitempty"`  // no value is NULL
	Metric *Metric `json:"metric,omitempty"`
	// Known has the tags of the series of a table to which another process has written rows, by their numbers, from
	// First on. A tag that a series lacks is null.
	Known [][][]byte `json:"known,omitempty"`
	First uint32     `json:"first,omitempty"` // see Known
}

// Tag is a tag of a Table.
type Tag struct {
	Key  string `json:"key"`
	Type string `json:"type"` // text or float
}

// Field is a field of a Table.
type Field struct {
	Name    string `json:"name"`
	Type    string `json:"type"`              // of series.Types, by name
	Length  int    `json:"length,omitempty"`  // of each text
	Longest int    `json:"longest,omitempty"` // of free texts, in bytes
}

// Metric describes a table as a metric of Prometheus's data model.
type Metric struct {
	Kind   string  `json:"kind"`
	Family string  `json:"family"`
	Help   string  `json:"help,omitempty"`
	Unit   string  `json:"unit,omitempty"`
	Class  string  `json:"class,omitempty"`
	Native *Native `json:"native,omitempty"`
}

// Native describes the buckets of native histograms.
type Native struct {
	Schema        int32   `json:"schema"`
	ZeroThreshold float64 `json:"zero_threshold"`
	First         int32   `json:"first"`
}

// FromSchema returns a schema as messages have it; nil stays nil.
func FromSchema(s *series.Schema) *Schema {
	if s == nil {
		return nil
	}
	m := &Schema{Series: s.Series, Tables: []Table{}, First: s.First, Last: s.Last, StepNS: int64(s.Step)}
	for i, t := range s.Tables {
		of := Table{Name: t.Name, Tags: []Tag{}, Fields: []Field{}, Ragged: t.Widths != nil, Dense: t.Dense && t.Widths == nil}
		if at := slices.IndexFunc(s.Tables[:i], func(o *series.Table) bool { return len(t.Tags) > 0 && sql.SameTags(o, t) }); at >= 0 {
			of.TagsOf = s.Tables[at].Name
		}
		for i := range t.Tags {
			kind := series.Text
			if t.Tags[i].Numeric() {
				kind = series.Float
			}
			of.Tags = append(of.Tags, Tag{t.Tags[i].Key, kind.String()})
		}
		for _, f := range t.Fields {
			of.Fields = append(of.Fields, Field{f.Name, f.Type.String(), f.Length, f.Longest})
		}
		if m := t.Metric; m != nil {
			of.Metric = &Metric{Kind: m.Kind.String(), Family: m.Family, Help: m.Help, Unit: m.Unit, Class: m.Class}
			if n := m.Native; n != nil {
				of.Metric.Native = &Native{n.Schema, n.ZeroThreshold, n.First}
			}
		}
		m.Tables = append(m.Tables, of)
	}
	return m
}

// AddSeries adds the tags of the series of s, which the schema was made of.
func (m *Schema) AddSeries(s *series.Schema) {
	for i, t := range s.Tables {
		of := &m.Tables[i]
		if of.TagsOf != "" || len(t.Tags) == 0 {
			continue
		}
		span := s.Range(t)
		of.First = span.First
		for id := span.First; id < span.End; id++ {
			tags := make([][]byte, len(t.Tags))
			for k := range t.Tags {
				value, ok := t.Tags[k].Values.Append([]byte{}, id)
				if !ok {
					continue
				}
				tags[k] = value
				if t.Tags[k].Numeric() {
					if number, err := strconv.ParseFloat(string(value), 64); err == nil {
						tags[k] = strconv.AppendFloat([]byte{}, number, 'g', -1, 64) // as it arrives with the rows
					}
				}
			}
			of.Known = append(of.Known, tags)
		}
	}
}

// Decode returns the series.Schema. Its tags have no values, and no table is ragged: fields that a
// row lacks arrive as NULL.
func (s *Schema) Decode() (*series.Schema, error) {
	types := make(map[string]series.Type)
	for _, t := range series.Types() {
		types[t.String()] = t
	}
	out := &series.Schema{Series: s.Series, First: s.First, Last: s.Last, Step: time.Duration(s.StepNS)}
	for _, t := range s.Tables {
		of := &series.Table{Name: t.Name, Dense: t.Dense && !t.Ragged}
		for _, tag := range t.Tags {
			kind := series.Text
			if tag.Type == series.Float.String() {
				kind = series.Float
			}
			of.Tags = append(of.Tags, series.Tag{Key: tag.Key, Type: kind})
		}
		if same := out.Table(t.TagsOf); same != nil && len(same.Tags) == len(of.Tags) {
			of.Tags = same.Tags
		}
		for _, f := range t.Fields {
			kind, known := types[f.Type]
			if !known {
				return nil, fmt.Errorf("field %s of table %s has the unknown type %q", f.Name, t.Name, f.Type)
			}
			of.Fields = append(of.Fields, series.Field{Name: f.Name, Type: kind, Length: f.Length, Longest: f.Longest})
		}
		if m := t.Metric; m != nil {
			of.Metric = &series.Metric{Family: m.Family, Help: m.Help, Unit: m.Unit, Class: m.Class}
			for kind := series.MetricKind(0); kind <= series.StateSet; kind++ {
				if kind.String() == m.Kind {
					of.Metric.Kind = kind
				}
			}
			if n := m.Native; n != nil {
				of.Metric.Native = &series.Native{Schema: n.Schema, ZeroThreshold: n.ZeroThreshold, First: n.First}
			}
		}
		out.Tables = append(out.Tables, of)
	}
	return out, nil
}
