// Package metric is shared by the drivers of metric systems, which store one number for each time and
// series and have no rows. It defines how the fields of a table become series, the parts of a query's
// request, and how the series of a result become rows again.
//
// Each field of a table is a metric, named after the table and the field, as in TSBS's cpu_usage_user,
// unless the table is a metric itself.
// All tags, including numeric ones, are its labels. Samples with equal times and labels form a row. A
// row without any value is a sample of the metric NullField.
package metric

import (
	"encoding/json"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Own begins the names of tsmark's own metrics and labels.
const Own = "tsmark_"

// NullField is the field of rows without a value of any other field.
const NullField = series.NoValue

// The names of series in a result that do not belong to a field.
const (
	// RowName marks a row as present, whatever fields it has.
	RowName = Own + "row"
	// TimeName: the value is the row's time, in seconds since 1970.
	TimeName = Own + "time"
	// NameLabel holds the name of a series whose name cannot be changed.
	NameLabel = Own + "name"
	// PartLabel distinguishes parts of a result with equal labels. It is not a label of the row.
	PartLabel = Own + "part"
)

// Name returns the metric of a table's field. The series of a table that is a metric have the name of the
// table; a native histogram has several fields.
func Name(t *series.Table, field string) string {
	if t.Metric != nil && field != NullField {
		return t.Name
	}
	return t.Name + "_" + field
}

// Objects lists the metrics of a schema's fields by name: a metric exists once it has a sample.
func Objects(schema *series.Schema, name func(t *series.Table, field string) string) []driver.Object {
	var objects []driver.Object
	for _, t := range schema.Tables {
		for _, f := range append(slices.Clone(t.Fields), series.Field{Name: NullField}) {
			o := driver.Object{Kind: "metric", Name: name(t, f.Name)}
			if len(objects) == 0 || objects[len(objects)-1].Name != o.Name { // the fields of a native histogram are one metric
				objects = append(objects, o)
			}
		}
	}
	return objects
}

// Plan is a request, and the mapping of its result to rows. It is the Plan of a driver.Request.
type Plan struct {
	Expression string `json:"-"`
	// At is the time of an instant query. Otherwise Start, End and Step define a range query. All are
	// in milliseconds, and times count from 1970.
	At    int64 `json:"at,omitempty"`
	Start int64 `json:"start,omitempty"`
	End   int64 `json:"end,omitempty"`
	Step  int64 `json:"step,omitempty"`
	// Newest means that only the newest Limit rows of a range query are needed: the last steps are
	// evaluated first, and earlier ones while there are fewer rows.
	Newest bool `json:"newest,omitempty"`
	// Lookback is how far a selector looks back for a sample, in milliseconds; 0: not relevant.
	Lookback int64 `json:"lookback,omitempty"`
	// Samples means that each sample of the answer is a row: its time, the labels of Tags, its value. A
	// tag without a label is the whole label set.
	Samples bool `json:"samples,omitempty"`
	// Native describes the native histograms whose fields are the columns; nil: samples are numbers.
	Native *series.Native `json:"native,omitempty"`

	Timed bool  `json:"timed,omitempty"` // the first column is the row's time
	Shift int64 `json:"shift,omitempty"` // from a sample's time to the row's, in milliseconds
	// Tags are the labels after the time, and Fields the metrics after the tags.
	Tags   []Tag       `json:"tags,omitempty"`
	Fields []Field     `json:"fields,omitempty"`
	One    bool        `json:"one,omitempty"` // keep only the newest row for each value of the first tag
	Order  query.Order `json:"order,omitempty"`
	Limit  int         `json:"limit,omitempty"` // rows at most; 0: all
}

// Tag is a column with the values of a label.
type Tag struct {
	Label  string `json:"label"`
	Number bool   `json:"number,omitempty"`
	Must   bool   `json:"must,omitempty"`   // rows without the label are dropped, before the newest are chosen
	Hidden bool   `json:"hidden,omitempty"` // not a column of the result
}

// Field is a column with the values of a metric.
type Field struct {
	Name   string `json:"name"`
	Count  bool   `json:"count,omitempty"`  // a missing value is 0, and no value is NULL
	Single bool   `json:"single,omitempty"` // a Float32: the value is rounded to the nearest single
	Must   bool   `json:"must,omitempty"`   // rows without a sample are dropped, after the newest are chosen if One is set
	Hidden bool   `json:"hidden,omitempty"` // not a column of the result
	// Divisor is another field that divides the values; empty: none.
	Divisor string `json:"divisor,omitempty"`
	// Filter is a constant: rows whose value does not compare with it are dropped, before the newest are
	// chosen; nil: none.
	Filter  *float64         `json:"above,omitempty"` // by >, or by Compare
	Compare query.Comparison `json:"compare,omitempty"`
	// Keep is a condition on rows, applied after the newest are chosen if One is set.
	Keep *Condition `json:"keep,omitempty"`
}

// Condition compares a value, divided by a numeric label if DivideBy is set.
type Condition struct {
	Compare  query.Comparison `json:"compare,omitempty"`
	Value    float64          `json:"value"`
	DivideBy string           `json:"over,omitempty"`
}

// Field returns the column of a metric. It adds a hidden column for a metric that is not a column yet.
func (p *Plan) Field(name string) *Field {
	at := slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == name })
	if at < 0 {
		at = len(p.Fields)
		p.Fields = append(p.Fields, Field{Name: name, Hidden: true})
	}
	return &p.Fields[at]
}

// DivideBy returns the label of a numeric tag that a condition divides by. It adds a hidden column for a
// label that is not a column yet.
func (p *Plan) DivideBy(label string) string {
	if label != "" && !slices.ContainsFunc(p.Tags, func(t Tag) bool { return t.Label == label }) {
		p.Tags = append(p.Tags, Tag{Label: label, Number: true, Hidden: true})
	}
	return label
}

// Request returns a copy of the plan as a request, whose text is a line of JSON and the expression. A
// request thus does not hold the memory of the renderer.
func (p Plan) Request() (driver.Request, error) {
	head, err := json.Marshal(p)
	return driver.Request{Text: string(head) + "\n" + p.Expression, Plan: &p}, err
}
