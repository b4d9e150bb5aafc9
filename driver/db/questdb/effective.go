package questdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
)

// EffectiveOptions implements driver.DB: how the created tables are stored.
func (d *database) EffectiveOptions(ctx context.Context) ([]driver.EffectiveOption, error) {
	var list []driver.EffectiveOption
	s := d.settings.tables
	for _, t := range d.Tables() {
		name := tableName(t.Name)
		rows, err := d.own.Query(ctx, fmt.Sprintf("SELECT partitionBy, walEnabled, dedup FROM tables() WHERE table_name = %s", newDialect().Text(name)))
		if err != nil {
			return nil, fmt.Errorf("reading how table %s is stored: %w", t.Name, err)
		}
		if len(rows) == 0 {
			continue
		}
		for i, e := range []driver.EffectiveOption{
			{Option: optionPartitionBy, Wanted: strings.ToLower(s.partitionBy), Setting: "partitionBy"},
			{Option: optionWAL, Wanted: fmt.Sprint(s.wal), Setting: "walEnabled"},
			{Option: optionDedup, Wanted: fmt.Sprint(s.dedup != dedupOff), Setting: "dedup"},
		} {
			e.Setting += " of table " + name
			if e.Found = strings.ToLower(rows[0][i].String()); e.Option != optionPartitionBy { // a boolean
				e.Found = strconv.FormatBool(rows[0][i].Int != 0)
			}
			e.Remedy = "load the table again with --replace"
			if e.Option == optionDedup && e.Found == e.Wanted {
				e.Wanted, e.Found = s.dedup, s.dedup // tables() does not report the columns
			}
			list = append(list, e)
		}
		if s.index {
			rows, err := d.own.Query(ctx, fmt.Sprintf("SELECT count() FROM table_columns(%s) WHERE type = 'SYMBOL' AND NOT indexed", newDialect().Text(name)))
			if err != nil {
				return nil, fmt.Errorf("reading the indexes of table %s: %w", t.Name, err)
			}
			list = append(list, driver.EffectiveOption{Option: optionIndex, Wanted: "true", Setting: "indexed of table_columns('" + name + "')",
				Found: strconv.FormatBool(len(rows) == 1 && rows[0][0].Int == 0), Remedy: "load the table again with --replace"})
		}
	}
	return list, nil
}
