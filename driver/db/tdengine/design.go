package tdengine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// The server's limits, in bytes except for the numbers of columns.
const (
	maxColumn  = 64
	maxName    = 192
	maxTable   = maxName - 11 // leaves room for the number of a series
	maxColumns = 4096         // including the time, without tags
	maxTags    = 128
	maxRow     = 65_531
	maxText    = 65_517 // of a column of texts
	maxLiteral = 65_530 // of a text in SQL, with its quotes and escapes
	maxEscaped = (maxLiteral - 2) / 2
	maxTagSize = 16_384
	tagLength  = 256 // of a text tag, if the limit allows it
)

// note is the table with the note.
const note = "tsmark_mark"

// design is the mapping of a schema to tables.
type design struct {
	sql.Dialect
	unit  time.Duration
	types map[series.Type]driver.Stored
	bySQL bool // rows are written as literals
	byTag bool // the tables of series are named after the first tag
}

func newDesign(o driver.Options) *design {
	d := &design{unit: unitOf(o), types: types(o), bySQL: o[optionWrite] != byStatement, byTag: o[optionChild] == childTag}
	d.Dialect = sql.Dialect{Name: "TDengine", Precision: d.unit, Names: "``", Texts: sql.Backslashes, TimeName: "ts", Words: words, Wide: true, NoSetAll: true}
	return d
}

// types are the columns of fields. The length of texts follows their type.
func types(o driver.Options) map[series.Type]driver.Stored {
	timestamp := driver.Stored{As: "TIMESTAMP"}
	if unitOf(o) != time.Nanosecond { // times have the database's precision
		timestamp = driver.Stored{As: "BIGINT", Mapped: "nanoseconds since 1970"}
	}
	return map[series.Type]driver.Stored{
		series.Bool:      {As: "BOOL"},
		series.Int32:     {As: "INT"},
		series.Int:       {As: "BIGINT"},
		series.Float32:   {As: "FLOAT"},
		series.Float:     {As: "DOUBLE"},
		series.Text:      {As: "VARCHAR"},
		series.Timestamp: timestamp,
		series.Date:      {As: "INT", Mapped: "days since 1970"},
		series.Blob:      {As: "VARBINARY"},
	}
}

// time is the name of the time column, in SQL.
func (d *design) time() string { return d.Ident(d.TimeName) }

// timeLiteral is a time in queries, rounded up, which selects the same times at the database's precision. A
// number does not depend on the time zone.
func (d *design) timeLiteral(t time.Time) string {
	ns := t.UnixNano()
	down := query.BucketOf(ns, d.unit)
	if down < ns {
		down += int64(d.unit)
	}
	return strconv.FormatInt(down/int64(d.unit), 10)
}

// child returns what the names of the tables of a table's series begin with; the series' number follows.
func (d *design) child(t *series.Table) string {
	if d.byTag {
		if tag, ok := t.Tags[0].Values.(series.Numbered); ok {
			return tag.Prefix
		}
	}
	return t.Name + "_"
}

// checkChildren returns an error if the first tag cannot name the tables of series.
func (d *design) checkChildren(s *series.Schema) error {
	if len(s.Tables) > 1 {
		return fmt.Errorf("%s=%s: the dataset has %d tables, whose series would share the names of their tables; leave the option out", optionChild, childTag, len(s.Tables))
	}
	for _, t := range s.Tables {
		if len(t.Tags) == 0 {
			return fmt.Errorf("%s=%s: table %s has no tags; leave the option out", optionChild, childTag, t.Name)
		}
		tag, ok := t.Tags[0].Values.(series.Numbered)
		if !ok || unnamable.MatchString(tag.Prefix) {
			return fmt.Errorf("%s=%s: the values of tag %s of table %s are not names followed by the numbers of series, such as host_7; leave the option out", optionChild, childTag, t.Tags[0].Key, t.Name)
		}
	}
	return nil
}

// check returns an error for the parts of a schema that TDengine cannot store.
func (d *design) check(s *series.Schema) error {
	if d.byTag {
		if err := d.checkChildren(s); err != nil {
			return err
		}
	}
	for i, t := range s.Tables {
		if err := d.checkTable(t); err != nil {
			return err
		}
		for _, other := range s.Tables[:i] {
			if other.Name == t.Name {
				return fmt.Errorf("two tables would be called %s; rename a table of the workload", t.Name)
			}
		}
		for _, other := range s.Tables {
			number, of := strings.CutPrefix(t.Name, other.Name+"_")
			if n, err := strconv.ParseUint(number, 10, 32); of && err == nil && n < uint64(s.Series) {
				return fmt.Errorf("table %s would be called as series %d of table %s; rename it", t.Name, n, other.Name)
			}
		}
	}
	return nil
}

// unnamable matches characters that are not allowed in a table's name.
var unnamable = regexp.MustCompile("[.`\x00-\x1f\x7f]")

func (d *design) checkTable(t *series.Table) error {
	switch bad := unnamable.FindString(t.Name); {
	case t.Name == note:
		return fmt.Errorf("a table is called %s, as that of tsmark's note: rename it", note)
	case t.Name == "", bad != "":
		return fmt.Errorf("table %q: a name of TDengine's has no %q; rename it", t.Name, bad)
	case len(t.Name) > maxTable:
		return fmt.Errorf("table %s: TDengine's names have at most %d bytes with the series behind them; shorten it", t.Name, maxName)
	case len(t.Tags) == 0:
		return fmt.Errorf("table %s has no tags, and a super table of TDengine's needs one; add a tag", t.Name)
	case len(t.Tags) > maxTags:
		return fmt.Errorf("table %s has %d tags, and TDengine takes %d; give it fewer", t.Name, len(t.Tags), maxTags)
	case len(t.Fields)+1 > maxColumns:
		return fmt.Errorf("table %s would have %d columns, and TDengine takes %d; give it fewer fields", t.Name, len(t.Fields)+1, maxColumns)
	}
	taken := map[string]bool{d.TimeName: true}
	for _, name := range t.ColumnNames() {
		switch {
		case taken[name]:
			return fmt.Errorf("two columns of table %s would be called %s; rename a tag or field", t.Name, name)
		case name == "" || len(name) > maxColumn || strings.ContainsAny(name, "`\x00"):
			return fmt.Errorf("column %q of table %s: TDengine's columns have names of 1 to %d bytes without backticks; rename it", name, t.Name, maxColumn)
		}
		taken[name] = true
	}
	return d.checkRow(t)
}

// checkRow returns an error for a row, or a text in it, that is too long.
func (d *design) checkRow(t *series.Table) error {
	row, texts := 8, ""
	for i := range t.Fields {
		f := &t.Fields[i]
		if !f.Type.Textual() {
			row += widths[kindOf[d.types[f.Type].As]]
			continue
		}
		row += 2 + f.Room()
		if !f.Free() {
			continue
		}
		has := fmt.Sprintf("field %s of table %s has texts of up to %d bytes", f.Name, t.Name, f.Room())
		switch {
		case f.Room() > maxText:
			return fmt.Errorf("%s, but a VARCHAR of TDengine holds at most %d; remove the field, or choose another target", has, maxText)
		case d.bySQL && f.Room() > maxEscaped:
			return fmt.Errorf("%s, but an SQL literal of TDengine holds %d if each byte is escaped; give %s=%s, or remove the field", has, maxEscaped, optionWrite, byStatement)
		}
		texts += fmt.Sprintf(", including up to %d for field %s", f.Room(), f.Name)
	}
	if row > maxRow {
		return fmt.Errorf("a row of table %s would have %d bytes%s, but TDengine allows %d; use fewer fields", t.Name, row, texts, maxRow)
	}
	return nil
}

// create returns the statement that creates the super table of a table.
func (d *design) create(t *series.Table) string {
	columns := []string{d.time() + " TIMESTAMP"}
	for _, f := range t.Fields {
		kind := d.types[f.Type].As
		if f.Type.Textual() {
			kind = fmt.Sprintf("%s(%d)", kind, f.Room())
		}
		columns = append(columns, d.Ident(f.Name)+" "+kind)
	}
	text := fmt.Sprintf("VARCHAR(%d)", min(tagLength, (maxTagSize-256)/len(t.Tags)-2))
	var tags []string
	for i := range t.Tags {
		kind := text
		if t.Tags[i].Numeric() {
			kind = "DOUBLE"
		}
		tags = append(tags, d.Ident(t.Tags[i].Key)+" "+kind)
	}
	return fmt.Sprintf("CREATE STABLE %s (%s) TAGS (%s)", d.Ident(t.Name), strings.Join(columns, ", "), strings.Join(tags, ", "))
}

// words are the words that TDengine parses as keywords unless they are in backticks.
const words = " _c0 _irowts _isfilled _qduration _qend _qstart _rowts _tags _wduration _wend _wstart account accounts add aggregate alive all alter analyze and anti " +
	"any apps arbgroups as asc asof at_once balance batch_scan between bigint binary bnode bnodes bool buffer bufsize bwlimit by cache cachemodel cachesize " +
	"case cast child client_version cluster column comment comp compact compacts compress connection connections conns consumer consumers contains count " +
	"count_window create current_user database databases dbs delete delete_mark desc describe distinct distributed dnode dnodes double drop duration else " +
	"enable encode encrypt_algorithm encrypt_key encryptions end event_window every exists expired explain file fill fill_history first float flush force " +
	"from full function functions geometry grant grants group hash_join having host if ignore import in index indexes inner insert int integer interval " +
	"into is jlimit join json keep keep_time_offset key kill language last last_row leader left level licences like limit linear local logs machines match " +
	"max_delay maxrows merge meta minrows minus mnode mnodes modify modules nchar next nmatch no_batch_scan none normal not now null null_f nulls offset on " +
	"only or order outer outputtype pages pagesize para_tables_sort partition partition_first pass pause port pps precision prev primary privileges qnode " +
	"qnodes qtime queries query range ratio read recursive redistribute rename replace replica reset restore resume retentions revoke right rollup " +
	"s3_chunksize s3_compact s3_keeplocal s3migrate schemaless scores select semi server_status server_version session set show single_stable skip_tsma " +
	"sliding slimit sma smalldata_ts_sort smallint snode snodes soffset sort_for_group split stable stables start state state_window storage stream streams " +
	"strict stt_trigger subscribe subscriptions subtable sysinfo system table table_prefix table_suffix tables tag tags tbname then timestamp timezone " +
	"tinyint to today topic topics transaction transactions trigger trim tsdb_pagesize tseries tsma tsmas ttl union unsafe unsigned untreated update use " +
	"user users using value value_f values varbinary varchar variables verbose vgroup vgroups view views vnode vnodes wal_fsync_period wal_level " +
	"wal_retention_period wal_retention_size wal_roll_period wal_segment_size watermark when where window window_close window_offset with write "
