package sql

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Ticks has what the shapes of ticks need.
type Ticks struct {
	// First and Last return the aggregate of the value at the least or greatest time; nil: rows are numbered.
	First, Last func(value, time string) string
	// Later returns the time that is a duration after another one, or before it if the duration is negative.
	Later func(time string, d time.Duration) string
	// SecondOfDay returns the second of the day, of UTC, at which the interval of a time begins; nil: Seconds from one
	// Bucket to another.
	SecondOfDay func(time string, width time.Duration) string
	// AsOf is the way to join the newest row.
	AsOf AsOf
	// Tolerance is the clause of ASOF JOIN that limits the age of rows; nil: their time is compared.
	Tolerance func(time.Duration) string
	// Around returns the clause of a join with the rows around each row, which is aggregated; nil: see Frame.
	Around func(before, after time.Duration) string
	// Frame returns the expression by which rows are ordered, and the frame around each row, over both tables
	// together; nil: the rows around each are a subquery.
	Frame func(time string, before, after time.Duration) (order, frame string)
	// Joined says that the rows around each are joined by a condition on their times and aggregated: ClickHouse has
	// neither subqueries that depend on a row, nor frames of more than 32 bits.
	Joined bool
	// Settings are written behind a query with a join; empty: nothing.
	Settings string
	// Few says that a SELECT may have one window function, without a frame.
	Few bool
	// Lookups says that an index of series and time finds the first and last row of a series at once.
	Lookups bool
}

// AsOf is a way to join each row with the newest row of another table.
type AsOf uint8

// The ways.
const (
	// AsOfOn is ASOF LEFT JOIN with the comparison of times in its condition.
	AsOfOn AsOf = iota
	// AsOfColumns is QuestDB's ASOF JOIN, whose condition names only equal columns.
	AsOfColumns
	// AsOfLateral takes the newest row by LATERAL and LIMIT 1.
	AsOfLateral
	// AsOfTime joins the row whose time a subquery finds.
	AsOfTime
	// AsOfWindow joins the row whose time is the newest so far in the rows of both tables together.
	AsOfWindow
)

// Names in the queries of ticks.
const (
	leftRows  = "left_rows"
	rightRows = "right_rows"
)

// checkTicks returns an error, which wraps query.ErrUnsupported, if the database cannot answer a shape of ticks.
func (r *renderer) checkTicks() error {
	switch {
	case r.Ticks == nil:
		return r.q.RefuseTicks("SQL of " + r.Name)
	case r.Narrow:
		return r.q.RefuseTicks("SQL over tables of a row a value")
	case r.NoWith && !r.withoutWindows():
		return fmt.Errorf("%w: it has no window functions", r.q.RefuseTicks("query of "+r.Name))
	case r.Ticks.Few && !r.withoutWindows() && !r.withOneWindow():
		return fmt.Errorf("%w: a SELECT has one window function, without a frame", r.q.RefuseTicks("query of "+r.Name))
	}
	if r.right != nil {
		if err := r.CheckNames(r.right); err != nil {
			return err
		}
	}
	switch s := r.q.Shape.(type) {
	case query.Candles:
		return r.checkWidth(s.Width)
	case query.Weighted:
		return r.checkWidth(s.Width)
	case query.Profile:
		return r.checkWidth(s.Width)
	case query.Nth:
		return r.CheckText(s.Is)
	}
	return nil
}

// withoutWindows reports whether the shape is written without window functions.
func (r *renderer) withoutWindows() bool {
	switch r.q.Shape.(type) {
	case query.Weighted, query.Profile:
		return true
	case query.Candles, query.Movers:
		return r.Ticks.First != nil
	}
	return false
}

// withOneWindow reports whether the shape is written with one window function.
func (r *renderer) withOneWindow() bool {
	switch r.q.Shape.(type) {
	case query.Gaps:
		return true
	case query.AsOf:
		return r.Ticks.AsOf == AsOfWindow
	}
	return false
}

// writeTicks writes a shape of ticks.
func (r *renderer) writeTicks() {
	switch s := r.q.Shape.(type) {
	case query.Candles:
		r.candles(s)
	case query.Weighted:
		r.weightedMeans(s)
	case query.AsOf:
		r.asOf(s)
	case query.Around:
		r.windowJoin(s)
	case query.Movers:
		r.movers(s)
	case query.Gaps:
		r.gaps(s)
	case query.Profile:
		r.profile(s)
	case query.Nth:
		r.nth(s)
	}
}

// exact returns the factor that makes a double of a field, unless it is one, or a decimal whose quotients are exact enough.
func (r *renderer) exact(t *series.Table, field string) string {
	if f := &t.Fields[t.FieldIndex(field)]; f.Type == series.Float && !(r.DecimalMeans && r.DecimalType(f) != "") {
		return ""
	}
	return " * 1e0"
}

// candles writes the Candles shape.
func (r *renderer) candles(s query.Candles) {
	from, price := r.columnPrefix(), r.Ident(s.Price)
	size, start := r.Ident(s.Size)+r.exact(r.table, s.Size), r.Bucket(s.Width, from+r.time())
	columns := func(open, close, prefix string) []string {
		return []string{open + " AS " + r.Ident("open"), fmt.Sprintf("max(%s%s) AS %s", prefix, price, r.Ident("high")),
			fmt.Sprintf("min(%s%s) AS %s", prefix, price, r.Ident("low")), close + " AS " + r.Ident("close"),
			fmt.Sprintf("sum(%s%s) AS %s", prefix, size, r.Ident("volume"))}
	}
	if r.Ticks.First != nil {
		value, time := from+price, from+r.time()
		r.scan(scan{tag: s.By, groups: 2, columns: append([]string{start + " AS " + r.Ident(TimeColumn), r.tag(s.By)}, columns(r.Ticks.First(value, time), r.Ticks.Last(value, time), from)...)})
		return
	}
	r.line("SELECT")
	r.list("  ", append([]string{bucketColumn + " AS " + r.Ident(TimeColumn), r.Ident(s.By)}, columns(ordinal("from_first", price), ordinal("from_last", price), "")...))
	r.line("FROM (")
	// Another name than that of the time, which MariaDB takes for it in windows.
	r.numberRows([]string{start + " AS " + bucketColumn, r.tag(s.By), from + price, from + r.Ident(s.Size)}, r.key(from)+", "+start)
	r.line(") AS numbered")
	r.line("GROUP BY 1, 2")
}

// ordinal returns the aggregate of the value of the row with the number 1.
func ordinal(number, value string) string {
	return fmt.Sprintf("max(CASE WHEN %s = 1 THEN %s END)", number, value)
}

// numberRows writes the subquery of columns of the rows, and their numbers from the first and from the last one.
func (r *renderer) numberRows(columns []string, partition string) {
	time := r.columnPrefix() + r.time()
	r.line("  SELECT")
	r.list("    ", append(columns,
		fmt.Sprintf("row_number() OVER (PARTITION BY %s ORDER BY %s) AS from_first", partition, time),
		fmt.Sprintf("row_number() OVER (PARTITION BY %s ORDER BY %s DESC) AS from_last", partition, time)))
	r.fromJoined("  ")
}

// key returns the column that tells the series of the table apart.
func (r *renderer) key(from string) string {
	if r.Wide {
		return r.Ident(r.seriesTag())
	}
	return from + r.tagsID()
}

// seriesTag returns the tag that tells series apart.
func (r *renderer) seriesTag() string { return r.q.Demands()[0] }

// weightedMeans writes the Weighted shape.
func (r *renderer) weightedMeans(s query.Weighted) {
	from := r.columnPrefix()
	weight := from + r.Ident(s.Weight)
	mean := fmt.Sprintf("sum(%s%s%s * %s) / nullif(sum(%[4]s), 0) AS %s", from, r.Ident(s.Value), r.exact(r.table, s.Value), weight, r.valueNames(1)[0])
	r.scan(scan{tag: s.By, groups: 2, columns: []string{r.Bucket(s.Width, from+r.time()) + " AS " + r.Ident(TimeColumn), r.tag(s.By), mean}})
}

// profile writes the Profile shape.
func (r *renderer) profile(s query.Profile) {
	const day = 24 * time.Hour
	var second string
	if r.Ticks.SecondOfDay != nil {
		second = r.Ticks.SecondOfDay(r.time(), s.Width)
	} else {
		second = r.Seconds(r.Bucket(day, r.time()), r.Bucket(s.Width, r.time()))
	}
	r.scan(scan{groups: 1, columns: []string{second + " AS second_of_day", fmt.Sprintf("sum(%s%s) AS %s", r.Ident(s.Field), r.exact(r.table, s.Field), r.valueNames(2)[1])}})
}

// movers writes the Movers shape.
func (r *renderer) movers(s query.Movers) {
	from, by := r.columnPrefix(), r.Ident(s.By)
	value := from + r.Ident(s.Field)
	r.line("SELECT %s, closing / opening - 1 AS %s", by, r.Ident("change"))
	r.line("FROM (")
	factor := r.exact(r.table, s.Field)
	switch {
	case r.Ticks.First != nil && !r.Ticks.Lookups:
		time := from + r.time()
		r.groups("  ", 1, []string{r.tag(s.By), r.Ticks.First(value, time) + factor + " AS opening", r.Ticks.Last(value, time) + factor + " AS closing"})
	case r.Ticks.Lookups && !r.Wide:
		r.line("  SELECT")
		field := r.Ident(s.Field)
		r.list("    ", []string{r.tag(s.By), "first_rows." + field + factor + " AS opening", "last_rows." + field + factor + " AS closing"})
		r.line("  FROM %s", r.tags)
		r.joinFirst("  ", r.rows, "first_rows", "", r.ofRows(""))
		r.joinFirst("  ", r.rows, "last_rows", " DESC", r.ofRows(""))
		r.conditions("  ", r.ofSeries(from))
	default:
		r.line("  SELECT %s, %s%s AS opening, %s%[3]s AS closing", by, ordinal("from_first", r.Ident(s.Field)), factor, ordinal("from_last", r.Ident(s.Field)))
		r.line("  FROM (")
		r.numberRows([]string{r.tag(s.By), value}, r.key(from))
		r.line("  ) AS numbered")
		r.line("  GROUP BY 1")
	}
	r.line(") AS ends")
	r.line("WHERE opening <> 0")
	r.line("ORDER BY 2 DESC, 1")
	r.line("LIMIT %d", s.Top)
}

// joinFirst writes the join of each series with its first row of a table, in an order of times and under conditions,
// which an index finds at once.
func (r *renderer) joinFirst(indent, rows, name, order string, conditions []string) {
	id, time := r.tagsID(), r.time()
	r.line("%sJOIN %s AS %s ON %[3]s.%s = %s.%s AND %[3]s.%[7]s = (", indent, rows, name, id, r.tags, r.id(), time)
	r.line("%s  SELECT %s", indent, time)
	r.line("%s  FROM %s", indent, rows)
	r.conditions(indent+"  ", append([]string{fmt.Sprintf("%s = %s.%s", id, r.tags, r.id())}, conditions...))
	r.line("%s  ORDER BY %s%s", indent, time, order)
	r.line("%s  LIMIT 1", indent)
	r.line("%s)", indent)
}

// gaps writes the Gaps shape.
func (r *renderer) gaps(s query.Gaps) {
	from, until := r.columnPrefix(), r.Ident("until")
	time := from + r.time()
	r.line("SELECT %s, %s, %s", r.time(), r.Ident(s.By), until)
	r.line("FROM (")
	r.line("  SELECT")
	r.list("    ", []string{time, r.tag(s.By), r.neighbor("lead", time, 1, r.key(from), time) + " AS " + until})
	r.fromJoined("  ")
	r.line(") AS neighbors")
	r.line("WHERE %s > %s", until, r.later(r.time(), s.Longer))
}

// later returns a time moved by a duration, in steps of times: differences are multiples of these.
func (r *renderer) later(time string, d time.Duration) string {
	return r.Ticks.Later(time, d.Truncate(r.Precision))
}

// nth writes the Nth shape.
func (r *renderer) nth(s query.Nth) {
	from := r.columnPrefix()
	time := from + r.time()
	names := r.valueNames(1 + len(s.Fields))
	columns := []string{time, r.tag(s.By), from + r.Ident(s.Event)}
	for i, value := range append([]string{time}, r.fields(from, s.Fields)...) {
		columns = append(columns, r.neighbor("lead", value, s.N, r.key(from), time)+" AS "+names[i])
	}
	r.line("SELECT %s", strings.Join(append([]string{r.time(), r.Ident(s.By)}, names...), ", "))
	r.line("FROM (")
	r.line("  SELECT")
	r.list("    ", columns)
	r.fromJoined("  ")
	r.line(") AS numbered")
	r.line("WHERE %s = %s", r.Ident(s.Event), r.Text(s.Is))
}

// leftSource writes the subquery of the rows that are joined: their time, By, the key of the series, and fields.
func (r *renderer) leftSource(indent string, fields []string, more ...string) {
	from := r.columnPrefix()
	columns := []string{from + r.time(), r.tag(r.seriesTag())}
	if !r.Wide {
		columns = append(columns, r.key(from))
	}
	r.line("%sSELECT", indent)
	r.list(indent+"  ", append(append(columns, r.fields(from, fields)...), more...))
	r.fromJoined(indent)
}

// leftColumns returns the columns of the answer that come from the rows that are joined.
func (r *renderer) leftColumns(fields []string) []string {
	return append([]string{leftRows + "." + r.time(), leftRows + "." + r.Ident(r.seriesTag())}, r.fields(leftRows+".", fields)...)
}

// sameSeries returns the condition that the rows of two sources are of one series.
func (r *renderer) sameSeries(a, b string) string {
	return fmt.Sprintf("%s.%s = %s.%[2]s", a, r.key(""), b)
}

// rightConditions returns the conditions on rows of the other table that follow from those on the query's rows.
func (r *renderer) rightConditions(before, after time.Duration, anyAge bool) []string {
	var conditions []string
	in := r.q.In
	switch {
	case in == nil:
	case !r.Wide:
		conditions = append(conditions, r.inSeries())
	case in.Key == r.seriesTag():
		conditions = append(conditions, fmt.Sprintf("%s IN (%s)", r.Ident(in.Key), strings.Join(r.values(in), ", ")))
	}
	if !r.q.Start.IsZero() && !anyAge {
		conditions = append(conditions, fmt.Sprintf("%s >= %s", r.time(), r.Time(r.roundUp(r.q.Start.Add(-before)))))
	}
	if !r.q.End.IsZero() {
		conditions = append(conditions, fmt.Sprintf("%s < %s", r.time(), r.Time(r.roundUp(r.q.End.Add(after)))))
	}
	return conditions
}

// asOf writes the AsOf shape.
func (r *renderer) asOf(s query.AsOf) {
	way, right := r.Ticks.AsOf, r.Ident(s.Right)
	source := rightRows
	if way == AsOfColumns || way == AsOfTime || way == AsOfWindow {
		source = right
	}
	columns := r.leftColumns(s.Fields)
	limited := s.Tolerance > 0 && way == AsOfOn
	for i, f := range s.RightFields {
		value := source + "." + r.Ident(f)
		if limited {
			value = fmt.Sprintf("CASE WHEN %s.%s >= %s THEN %s END", source, r.time(), r.later(leftRows+"."+r.time(), -s.Tolerance), value)
		}
		columns = append(columns, value+" AS "+r.valueNames(len(s.RightFields))[i])
	}
	r.line("SELECT")
	r.list("  ", columns)
	r.line("FROM (")
	if way == AsOfWindow {
		r.newestSoFar(s)
	} else {
		r.leftSource("  ", s.Fields)
	}
	r.line(") AS %s", leftRows)
	switch key, time := r.key(""), r.time(); way {
	case AsOfOn:
		r.line("ASOF LEFT JOIN (")
		r.line("  SELECT %s", strings.Join(append([]string{time, key}, r.fields("", s.RightFields)...), ", "))
		r.line("  FROM %s", right)
		r.conditions("  ", r.rightConditions(s.Tolerance, 0, s.Tolerance == 0))
		r.line(") AS %s ON %s AND %s.%s <= %s.%[4]s", rightRows, r.sameSeries(leftRows, rightRows), rightRows, time, leftRows)
	case AsOfColumns:
		r.line("ASOF JOIN %s ON (%s)", right, key)
		if s.Tolerance > 0 {
			r.appendToLine(" TOLERANCE %s", r.Ticks.Tolerance(s.Tolerance.Truncate(r.Precision)))
		}
	case AsOfLateral:
		r.line("LEFT JOIN LATERAL (")
		r.line("  SELECT %s", strings.Join(r.fields("", s.RightFields), ", "))
		r.line("  FROM %s", right)
		r.conditions("  ", r.earlier(right, s.Tolerance))
		r.line("  ORDER BY %s.%s DESC", right, time)
		r.line("  LIMIT 1")
		r.line(") AS %s ON true", rightRows)
	case AsOfTime:
		r.line("LEFT JOIN %s ON %s AND %s.%s = (", right, r.sameSeries(leftRows, right), right, time)
		r.line("  SELECT earlier.%s", time)
		r.line("  FROM %s AS earlier", right)
		r.conditions("  ", r.earlier("earlier", s.Tolerance))
		r.line("  ORDER BY earlier.%s DESC", time)
		r.line("  LIMIT 1")
		r.line(")")
	case AsOfWindow:
		r.line("LEFT JOIN %s ON %s AND %s.%s = newest_time", right, r.sameSeries(leftRows, right), right, time)
		if s.Tolerance > 0 {
			r.line("  AND newest_time >= %s", r.later(leftRows+"."+time, -s.Tolerance))
		}
		r.line("WHERE joined = 1")
	}
	r.settings()
}

// newestSoFar writes the subquery of the rows of both tables, with the newest time of the other table so far.
func (r *renderer) newestSoFar(s query.AsOf) {
	key, fields := r.key(""), r.fields("", s.Fields)
	columns := append([]string{r.time(), r.Ident(s.By)}, fields...)
	if !r.Wide {
		columns = append(columns, key)
	}
	r.line("  SELECT")
	r.list("    ", append(columns, "joined", fmt.Sprintf("max(other_time) OVER (PARTITION BY %s ORDER BY %s, joined) AS newest_time", key, r.time())))
	// Of the rows before the query's, only the newest of each series counts.
	before := s.Tolerance == 0 && !r.q.Start.IsZero() && r.Ticks.Lookups && !r.Wide
	r.both("  ", s.Right, s.Fields, "CASE WHEN 1 = 0 THEN "+r.time()+" END AS other_time", r.time()+" AS other_time",
		r.rightConditions(s.Tolerance, 0, s.Tolerance == 0 && !before), before)
}

// both writes the source of the rows of both tables: with joined as 1 the rows that are joined, with a column more, and with
// joined as 0 the others, with their value of it. Before adds the newest row of each series before the query's, whose
// value is its time.
func (r *renderer) both(indent, right string, fields []string, column, value string, conditions []string, before bool) {
	r.line("%sFROM (", indent)
	r.leftSource(indent+"  ", fields, "1 AS joined", column)
	r.line("%s  UNION ALL", indent)
	r.line("%s  SELECT", indent)
	others := []string{r.time(), r.key("")}
	if !r.Wide {
		others = []string{r.time(), "NULL AS " + r.Ident(r.seriesTag()), r.key("")}
	}
	for _, f := range r.fields("", fields) {
		others = append(others, "NULL AS "+f)
	}
	r.list(indent+"    ", append(others, "0 AS joined", value))
	r.line("%s  FROM %s", indent, r.Ident(right))
	r.conditions(indent+"  ", conditions)
	if before {
		others[0], others[2] = rightRows+"."+others[0], rightRows+"."+others[2]
		r.line("%s  UNION ALL", indent)
		r.line("%s  SELECT", indent)
		r.list(indent+"    ", append(others, "0 AS joined", rightRows+"."+value))
		r.line("%s  FROM %s", indent, r.tags)
		r.joinFirst(indent+"  ", r.Ident(right), rightRows, " DESC", []string{fmt.Sprintf("%s < %s", r.time(), r.Time(r.roundUp(r.q.Start)))})
		r.conditions(indent+"  ", r.ofSeries(rightRows+"."))
	}
	r.line("%s) AS both_tables", indent)
}

// earlier returns the conditions on rows that are at most as late as that of the query, and not older than a tolerance.
func (r *renderer) earlier(source string, tolerance time.Duration) []string {
	at := leftRows + "." + r.time()
	conditions := []string{r.sameSeries(leftRows, source), fmt.Sprintf("%s.%s <= %s", source, r.time(), at)}
	if tolerance > 0 {
		conditions = append(conditions, fmt.Sprintf("%s.%s >= %s", source, r.time(), r.later(at, -tolerance)))
	}
	return conditions
}

func (r *renderer) settings() {
	if r.Ticks.Settings != "" {
		r.line("%s", r.Ticks.Settings)
	}
}

// windowJoin writes the Around shape.
func (r *renderer) windowJoin(s query.Around) {
	right, name := r.Ident(s.Right), r.valueNames(1)[0]
	before, after := s.Before.Truncate(r.Precision), s.After.Truncate(r.Precision)
	difference := func(from string) string {
		text := from + r.Ident(s.Field) + r.exact(r.right, s.Field)
		if s.Minus != "" {
			text += " - " + from + r.Ident(s.Minus)
		}
		return text
	}
	switch {
	case r.Ticks.Around != nil:
		r.line("SELECT")
		r.list("  ", append(r.leftColumns(s.Fields), fmt.Sprintf("avg(%s) AS %s", difference(right+"."), name)))
		r.line("FROM (")
		r.leftSource("  ", s.Fields)
		r.line(") AS %s", leftRows)
		r.line("WINDOW JOIN %s ON (%s)", right, r.sameSeries(leftRows, right))
		r.line("%s", r.Ticks.Around(before, after))
		r.settings()
	case r.Ticks.Frame != nil:
		r.frameJoin(s, difference(""), name, before, after)
	case r.Ticks.Joined:
		at, other := leftRows+"."+r.time(), rightRows+"."+r.time()
		r.line("SELECT")
		r.list("  ", append(r.leftColumns(s.Fields), "avg(difference) AS "+name))
		r.line("FROM (")
		r.leftSource("  ", s.Fields)
		r.line(") AS %s", leftRows)
		r.line("LEFT JOIN (")
		r.line("  SELECT %s, %s, %s AS difference", r.time(), r.key(""), difference(""))
		r.line("  FROM %s", right)
		r.conditions("  ", r.rightConditions(before, after, false))
		r.line(") AS %s ON %s", rightRows, r.sameSeries(leftRows, rightRows))
		r.line("  AND %s >= %s", other, r.Ticks.Later(at, -before))
		r.line("  AND %s <= %s", other, r.Ticks.Later(at, after))
		r.line("GROUP BY %s", numbers(2+len(s.Fields)))
		r.settings()
	default:
		at := leftRows + "." + r.time()
		r.line("SELECT")
		r.list("  ", append(r.leftColumns(s.Fields), "("))
		r.line("    SELECT avg(%s)", difference(right+"."))
		r.line("    FROM %s", right)
		r.conditions("    ", []string{
			r.sameSeries(leftRows, right),
			fmt.Sprintf("%s.%s >= %s", right, r.time(), r.Ticks.Later(at, -before)),
			fmt.Sprintf("%s.%s <= %s", right, r.time(), r.Ticks.Later(at, after)),
		})
		r.line("  ) AS %s", name)
		r.line("FROM (")
		r.leftSource("  ", s.Fields)
		r.line(") AS %s", leftRows)
	}
}

// frameJoin writes the Around shape as a frame over the rows of both tables.
func (r *renderer) frameJoin(s query.Around, difference, name string, before, after time.Duration) {
	key, by := r.key(""), r.Ident(s.By)
	fields := r.fields("", s.Fields)
	order, frame := r.Ticks.Frame(r.time(), before, after)
	r.line("SELECT %s", strings.Join(append(append([]string{r.time(), by}, fields...), name), ", "))
	r.line("FROM (")
	r.line("  SELECT")
	columns := append([]string{r.time(), by}, fields...)
	r.list("    ", append(columns, "joined",
		fmt.Sprintf("avg(difference) OVER (PARTITION BY %s ORDER BY %s %s) AS %s", key, order, frame, name)))
	// A NULL with the type of doubles.
	r.both("  ", s.Right, s.Fields, "CASE WHEN 1 = 0 THEN 0e0 END AS difference", difference+" AS difference", r.rightConditions(before, after, false), false)
	r.line(") AS windows")
	r.line("WHERE joined = 1")
}
