// Package proposal generates query types that suit the data of a table.
package proposal

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// Properties of the generated queries.
const (
	rowsPerBucket  = 10     // least rows of a tag value in a bucket, on average
	shortWindow    = 12     // buckets in the windows of queries about some tag values
	longWindow     = 60     // and about all of them
	manyValues     = 8      // tag values of the queries about several
	newestBuckets  = 10     // buckets of the query about the newest ones
	groupedTags    = 3      // tags with a query that groups by them
	mostGroups     = 10_000 // groups in an answer
	mostExceeding  = 50_000 // rows above a threshold
	greatestShare  = 0.9    // smallest quantile of thresholds
	widthOfTagName = 32     // characters of a tag in the name of a query type
)

// bucketWidth is a width of buckets, and its name in query types.
type bucketWidth struct {
	width time.Duration
	name  string
}

const day = 24 * time.Hour

// bucketWidths lists the widths of buckets in ascending order.
func bucketWidths() []bucketWidth {
	return []bucketWidth{
		{time.Millisecond, "1-millisecond"}, {10 * time.Millisecond, "10-milliseconds"}, {100 * time.Millisecond, "100-milliseconds"},
		{time.Second, "1-second"}, {10 * time.Second, "10-seconds"}, {time.Minute, "1-minute"}, {5 * time.Minute, "5-minutes"}, {15 * time.Minute, "15-minutes"},
		{time.Hour, "1-hour"}, {6 * time.Hour, "6-hours"}, {day, "1-day"}, {7 * day, "7-days"}, {30 * day, "30-days"}, {365 * day, "365-days"},
	}
}

// Data describes the table that query types are generated for.
type Data struct {
	Table   *series.Table
	Tables  int   // of the dataset, which has the most rows in this one
	Rows    int64 // of the table, about
	Span    time.Duration
	Values  []int        // different values of each tag
	Samples []*Reservoir // values of each field; nil: none of the field
}

// proposal generates the query types for a dataset.
type proposal struct {
	Data
	values int    // different values of tag
	tag    string // with the most values; empty: the table has no tags
	fields []string
	sample []*Reservoir // of fields
	bucket bucketWidth

	list    []ownqueries.Query
	skipped []skipped
	notes   []string
}

// skipped names query types that are skipped for a reason.
type skipped struct {
	reason string
	names  []string
}

// QueryTypes returns query types that suit the data, and notes on types that do not.
func QueryTypes(d Data) ([]ownqueries.Query, []string) {
	p := proposal{Data: d}
	if d.Tables > 1 {
		p.notes = append(p.notes, fmt.Sprintf("generated queries are about table %s, which has the most rows of %d tables; declare queries of others with --own-queries", d.Table.Name, d.Tables))
	}
	for i, n := range d.Values {
		if p.tag == "" || n > p.values {
			p.tag, p.values = d.Table.Tags[i].Key, n
		}
	}
	p.findFields()
	p.findBucket()
	p.addAll()
	for _, s := range p.skipped {
		p.notes = append(p.notes, fmt.Sprintf("skipped query types: %s: %s", strings.Join(s.names, ", "), s.reason))
	}
	return p.list, p.notes
}

// findFields chooses the numeric fields.
func (p *proposal) findFields() {
	var odd []string
	for i, r := range p.Samples {
		switch name := p.Table.Fields[i].Name; {
		case r == nil || r.seen == 0:
		case r.odd:
			odd = append(odd, name)
		default:
			p.fields, p.sample = append(p.fields, name), append(p.sample, r)
		}
	}
	if len(odd) > 0 {
		p.notes = append(p.notes, fmt.Sprintf("generated queries omit fields with NaN, infinities or integers beyond 2^53, which systems aggregate differently: %s", input.ListSome(odd)))
	}
}

// findBucket chooses the width of buckets.
func (p *proposal) findBucket() {
	least := float64(p.Span) * rowsPerBucket * float64(max(p.values, 1)) / float64(max(p.Rows, 1))
	widths := bucketWidths()
	p.bucket = widths[0]
	for _, b := range widths[1:] {
		if float64(p.bucket.width) >= least || b.width > p.Span/2 {
			break
		}
		p.bucket = b
	}
}

// window returns the length of windows of some buckets. It is at most half of the data, so that
// windows differ; 0: the whole dataset.
func (p *proposal) window(buckets int) time.Duration {
	n := min(int64(buckets), int64(p.Span/2/p.bucket.width))
	return time.Duration(n) * p.bucket.width
}

// add adds a query type, unless a reason speaks against it.
func (p *proposal) add(q ownqueries.Query, reasons ...string) {
	for _, why := range reasons {
		if why == "" {
			continue
		}
		at := slices.IndexFunc(p.skipped, func(s skipped) bool { return s.reason == why })
		if at < 0 {
			at, p.skipped = len(p.skipped), append(p.skipped, skipped{reason: why})
		}
		p.skipped[at].names = append(p.skipped[at].names, q.Name)
		return
	}
	q.Table = p.Table.Name
	p.list = append(p.list, q)
}

// reason returns the text if the condition holds.
func reason(holds bool, text string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(text, args...)
}

func (p *proposal) addAll() {
	table := p.Table.Name
	noTag := reason(p.tag == "", "table %s has no tag", table)
	noNumber := reason(len(p.fields) == 0, "table %s has no field of numbers", table)
	oneValue := reason(p.values < 2, "tag %s has one value", p.tag)
	fewValues := reason(p.values < manyValues, "tag %s has %d values", p.tag, p.values)
	many := reason(p.values > mostGroups, "tag %s has %s values", p.tag, humanize.Comma(int64(p.values)))
	newest := p.fields
	if noNumber != "" {
		newest = []string{p.Table.Fields[0].Name}
	}
	short, long, every := p.window(shortWindow), p.window(longWindow), p.bucket.width
	first := p.fields[:min(len(p.fields), 1)]
	field := strings.Join(first, "")
	length := func(window time.Duration) string {
		if window == 0 {
			return "all data"
		}
		return fmt.Sprintf("%d buckets", window/every)
	}
	p.add(ownqueries.Query{Name: "lastpoint", Help: "newest row of each " + p.tag, Shape: "last", By: p.tag, Fields: newest}, noTag)
	mean := func(name, of string) ownqueries.Query {
		return ownqueries.Query{Name: "mean-" + p.bucket.name + "-" + name, Help: fmt.Sprintf("mean of %s per %s of %s, over %s", field, spoken(p.bucket), of, length(short)),
			Shape: "buckets", Aggregate: "avg", Fields: first, Every: every, Order: "asc", Window: short}
	}
	one := mean("1", "one "+p.tag)
	one.Where = ownqueries.Where{Tag: p.tag, Draw: 1}
	p.add(one, noTag, noNumber)
	several := mean("8", "eight values of "+p.tag)
	several.Where = ownqueries.Where{Tag: p.tag, Draw: manyValues}
	p.add(several, noTag, noNumber, fewValues)
	p.add(ownqueries.Query{Name: "max-" + p.bucket.name + "-all", Help: fmt.Sprintf("maxima of all series per %s, over %s", spoken(p.bucket), length(long)),
		Shape: "buckets", Aggregate: "max", Fields: p.fields, Every: every, Order: "asc", Window: long}, noNumber)
	each := mean("by-"+plainName(cmp.Or(p.tag, "tag")), "each "+p.tag)
	each.By = p.tag
	p.add(each, noTag, noNumber, oneValue, many)
	p.add(ownqueries.Query{Name: fmt.Sprintf("max-%s-newest-%d", p.bucket.name, newestBuckets), Help: fmt.Sprintf("maximum of %s in the newest %d buckets of %s before a time", field, newestBuckets, spoken(p.bucket)),
		Shape: "buckets", Aggregate: "max", Fields: first, Every: every, Order: "desc", Limit: newestBuckets, Window: short, NoStart: short > 0}, noNumber)
	p.addThreshold(short, noNumber)
	p.addGroups(long, noTag, noNumber)
}

// addThreshold adds the query of rows above a quantile of a field with different values.
func (p *proposal) addThreshold(window time.Duration, noNumber string) {
	q := ownqueries.Query{Name: "above-threshold", Shape: "rows", Fields: p.fields, Tag: p.tag, Window: window}
	for i, r := range p.sample {
		for _, v := range r.quantiles(greatestShare, 0.95, 0.99) {
			q.Above.Field = p.fields[i]
			q.Above.Value = append(q.Above.Value, strconv.FormatFloat(v, 'f', -1, 64))
		}
		if q.Above.Field != "" {
			break
		}
	}
	q.Help = fmt.Sprintf("rows whose %s is above a high quantile", q.Above.Field)
	if window > 0 && p.values > manyValues && float64(p.Rows)*float64(window)/float64(p.Span)*(1-greatestShare) > mostExceeding {
		q.Where = ownqueries.Where{Tag: p.tag, Draw: manyValues}
		q.Help += ", of eight values of " + p.tag
	}
	p.add(q, noNumber, reason(q.Above.Field == "", "no field has a value above most others"))
}

// addGroups adds queries that group by tags.
func (p *proposal) addGroups(window time.Duration, noTag, noNumber string) {
	if noTag != "" || noNumber != "" {
		p.add(ownqueries.Query{Name: "by-tag"}, noTag, noNumber)
		return
	}
	added := 0
	for i := range p.Table.Tags {
		tag, n := p.Table.Tags[i].Key, p.Values[i]
		name := "by-" + plainName(tag)
		if slices.ContainsFunc(p.list, func(q ownqueries.Query) bool { return q.Name == name }) {
			name += "-" + strconv.Itoa(i)
		}
		before := len(p.list)
		if added < groupedTags {
			p.add(ownqueries.Query{Name: name, Help: fmt.Sprintf("mean of %s of each %s", p.fields[0], tag), Shape: "totals", Aggregate: "avg", Fields: p.fields[:1], By: tag, Window: window},
				reason(n < 2, "tag %s has one value", tag), reason(n > mostGroups, "tag %s has %s values", tag, humanize.Comma(int64(n))))
		}
		added += len(p.list) - before
	}
}

// spoken is the width of buckets as texts have it.
func spoken(b bucketWidth) string {
	return strings.TrimPrefix(strings.ReplaceAll(b.name, "-", " "), "1 ")
}

// plainName is the name of a tag with the characters that names of query types may have.
func plainName(tag string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tag)
	return plain[:min(len(plain), widthOfTagName)]
}
