package cassandra

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Names reserved for tsmark.
const (
	seriesColumn   = "tags_id" // number of a series, named as in PostgreSQL's tables
	bucketColumn   = "bucket"  // start of a partition's span
	timeColumn     = "time"
	registrySuffix = "_series"
	noteTable      = "tsmark_mark"
)

// longestName is the largest number of characters in the name of a table or keyspace.
const longestName = 48

// names quotes names.
var names = &sql.Dialect{Words: " add allow alter and apply asc authorize batch begin by columnfamily create default delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace limit materialized mbean mbeans modify nan norecursive not null of on or order primary rename replace revoke schema select set table to token truncate unlogged unset update use using view where with "}

// ident is a name as an identifier in statements. A name that begins with an underscore needs quotes.
func ident(name string) string {
	if strings.HasPrefix(name, "_") {
		return sql.DoubleQuotes.Wrap(name)
	}
	return names.Ident(name)
}

// tableName is the name of a table: Cassandra allows only word characters.
func tableName(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "_%x", c)
		}
	}
	return b.String()
}

func registryName(t *series.Table) string { return tableName(t.Name) + registrySuffix }

// layout determines the names and the columns of tables.
type layout struct {
	options  driver.Options
	keyspace string
	span     time.Duration // of a partition
	narrow   bool          // see narrow.go
	types    map[series.Type]driver.Stored
}

func newLayout(o driver.Options) *layout {
	return &layout{
		options: o, keyspace: o[connection.Database], span: partitions[o[optionPartition]],
		narrow: o[optionLayout] == layoutNarrow, types: caps(o).Types,
	}
}

// qualify is the qualified name of a table in the keyspace.
func (l *layout) qualify(table string) string { return ident(l.keyspace) + "." + ident(table) }

func (l *layout) rows(t *series.Table) string     { return l.qualify(tableName(t.Name)) }
func (l *layout) registry(t *series.Table) string { return l.qualify(registryName(t)) }

// check returns an error for the parts of a schema that Cassandra cannot store.
func check(o driver.Options, s *series.Schema) error {
	narrow := o[optionLayout] == layoutNarrow
	switch {
	case narrow && o[optionPartition] != "day":
		return fmt.Errorf("%s=%s has partitions of days, as TSBS has: leave out %s=%s", optionLayout, layoutNarrow, optionPartition, o[optionPartition])
	case narrow:
		if err := checkNarrow(s); err != nil {
			return err
		}
	}
	keyspace := o[connection.Database]
	if keyspace == "" || tableName(keyspace) != keyspace || len(keyspace) > longestName {
		return fmt.Errorf("no keyspace can be called %q: give up to %d letters, digits and underscores by the option %s", keyspace, longestName, connection.Database)
	}
	taken := map[string]string{noteTable: "that of tsmark's note"}
	for _, t := range s.Tables {
		names := []string{tableName(t.Name), registryName(t)}
		if narrow {
			names = names[1:]
		}
		for _, name := range names {
			switch {
			case t.Name == "" || len(name) > longestName:
				return fmt.Errorf("table %q would be called %s, and Cassandra's names have %d characters at most: rename it", t.Name, name, longestName)
			case taken[name] != "":
				return fmt.Errorf("table %s would be called %s, as is %s: rename it", t.Name, name, taken[name])
			}
			taken[name] = "one of table " + t.Name
		}
		columns := map[string]bool{seriesColumn: true, bucketColumn: true, timeColumn: true}
		if narrow {
			columns[keyColumn] = true
		}
		for _, name := range t.ColumnNames() {
			switch {
			case name == "" || strings.ContainsRune(name, 0):
				return fmt.Errorf("table %s has a tag or field called %q, which Cassandra cannot have: rename it", t.Name, name)
			case columns[name]:
				return fmt.Errorf("two columns of table %s would be called %s: rename a tag or field", t.Name, name)
			}
			columns[name] = true
		}
	}
	return nil
}

// makeKeyspace returns the statement that creates the keyspace.
func (l *layout) makeKeyspace() string {
	return fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %s} AND durable_writes = %s",
		ident(l.keyspace), l.options[optionReplication], l.options[optionDurableWrites])
}

// table is a table to create: its name and the statement.
type table struct{ name, statement string }

// tables returns the tables of a schema, in the order of creation.
func (l *layout) tables(s *series.Schema) (all []table) {
	for _, t := range s.Tables {
		if !l.narrow {
			all = append(all, table{tableName(t.Name), l.makeRows(t)})
		}
		all = append(all, table{registryName(t), l.makeRegistry(t)})
	}
	if l.narrow {
		for _, v := range valueTables(s) {
			all = append(all, table{v.name, l.makeValues(v)})
		}
	}
	return all
}

// makeRows returns the statement that creates a table of rows.
func (l *layout) makeRows(t *series.Table) string {
	var fields strings.Builder
	for _, f := range t.Fields {
		fmt.Fprintf(&fields, "%s %s, ", ident(f.Name), l.types[f.Type].As)
	}
	return fmt.Sprintf("CREATE TABLE %s (%s int, %s timestamp, %s timestamp, %sPRIMARY KEY ((%[2]s, %[3]s), %[4]s)) WITH CLUSTERING ORDER BY (%[4]s DESC) AND %[6]s",
		l.rows(t), seriesColumn, bucketColumn, timeColumn, fields.String(), l.storage())
}

// makeRegistry returns the statement that creates the registry of a table of rows, which finds a series
// by its first tag.
func (l *layout) makeRegistry(t *series.Table) string {
	var tags strings.Builder
	if l.narrow {
		fmt.Fprintf(&tags, "%s text static, ", keyColumn)
	}
	for i := range t.Tags {
		kind := "text"
		if t.Tags[i].Numeric() {
			kind = "double"
		}
		fmt.Fprintf(&tags, "%s %s static, ", ident(t.Tags[i].Key), kind)
	}
	return fmt.Sprintf("CREATE TABLE %s (%s int, %s timestamp, %sPRIMARY KEY (%[2]s, %[3]s)) WITH CLUSTERING ORDER BY (%[3]s DESC)",
		l.registry(t), seriesColumn, bucketColumn, tags.String())
}

// storage returns the properties of tables with values.
func (l *layout) storage() string {
	return "compaction = " + l.compaction()
}

func (l *layout) compaction() string {
	switch l.options[optionCompaction] {
	case "unified":
		return "{'class': 'UnifiedCompactionStrategy'}"
	case "leveled":
		return "{'class': 'LeveledCompactionStrategy'}"
	case "time_window":
		return fmt.Sprintf("{'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'HOURS', 'compaction_window_size': '%d'}", l.span/time.Hour)
	}
	return "{'class': 'SizeTieredCompactionStrategy'}"
}
