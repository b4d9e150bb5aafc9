package metric

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// Limits describes the data that a metric system can store.
type Limits struct {
	System string // in errors
	Types  map[series.Type]driver.Stored
	// Numbers says why it cannot store fields of other types; empty: it stores only numbers.
	Numbers string
	// Name says why the name of a table, a tag or a field is not allowed, to follow "which": "line
	// protocol cannot say". Empty: it is allowed.
	Name func(name string) string
	// Labels is the largest number of labels of a series without its name, and LabelLimit the name of
	// the setting; 0: no limit.
	Labels     int
	LabelLimit string
	// Native says why it cannot store native histograms, to follow "which"; empty: it can.
	Native string
}

// LineName is Limits.Name for systems that are written by line protocol.
func LineName(name string) string {
	if name == "" || strings.Contains(name, "\n") || strings.HasPrefix(name, "#") || series.Ambiguous([]byte(name)) {
		return "line protocol cannot say"
	}
	return ""
}

// Check returns an error for data that the system cannot store: fields of other types, names that are
// not allowed, names that two fields share, too many tags, and kinds of metrics that it does not have.
func (l *Limits) Check(s *series.Schema) error {
	metrics := map[string]string{}
	for _, t := range s.Tables {
		if t.Name == NoteTable {
			return fmt.Errorf("a table is called %s, which is tsmark's own: rename it", t.Name)
		}
		taken := map[string]bool{"__name__": true}
		for i, name := range append([]string{t.Name}, t.ColumnNames()...) {
			why := l.Name(name)
			switch {
			case why != "":
				return fmt.Errorf("table %s has something called %q, which %s: rename it", t.Name, name, why)
			case strings.HasPrefix(name, Own):
				return fmt.Errorf("table %s has a tag or field called %s; what begins with %s is tsmark's own: rename it", t.Name, name, Own)
			case i > 0 && taken[name]:
				return fmt.Errorf("two tags or fields of table %s are called %s, or it is the name of metrics: rename one", t.Name, name)
			}
			taken[name] = i > 0 || taken[name]
		}
		switch {
		case l.Labels > 0 && len(t.Tags) > l.Labels:
			return fmt.Errorf("table %s has %d tags, but %s stores only %d (%s): remove some", t.Name, len(t.Tags), l.System, l.Labels, l.LabelLimit)
		case t.Metric == nil:
		case t.Metric.Kind > series.StateSet:
			return fmt.Errorf("metric %s is of a type that tsmark does not know (%d): make it a gauge, counter, histogram, info or stateset", t.Name, t.Metric.Kind)
		case t.Metric.Native != nil && l.Native != "":
			return fmt.Errorf("metric %s is a native histogram, which %s: give the dataset metrics.histograms=classic", t.Name, l.Native)
		}
		for _, f := range t.Fields {
			if l.Types[f.Type].As == "" {
				return fmt.Errorf("field %s of table %s is of the type %v, and %s; choose another target, or a dataset without such fields", f.Name, t.Name, f.Type, cmp.Or(l.Numbers, l.System+" holds numbers alone"))
			}
			name := Name(t, f.Name)
			if other := metrics[name]; other != "" && (other != t.Name || t.Metric == nil) {
				return fmt.Errorf("fields of the tables %s and %s would both be the metric %s: rename one", other, t.Name, name)
			}
			metrics[name] = t.Name
		}
	}
	return nil
}
