package questdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/series"
)

// changes returns the Changes of tables with the settings.
func changes(s tableSettings) driver.Changes {
	c := driver.Changes{
		Delete:  driver.Way{Reason: "QuestDB has no DELETE: rows leave with their partition, or a table is copied without them"},
		Drop:    driver.Way{By: "ALTER TABLE … DROP PARTITION", Space: "at once, with the files of the partitions"},
		Correct: driver.Way{Reason: "rows that are written again are kept beside the first ones; choose dedup=" + dedupAllTags},
		Again:   driver.KeepsBoth,
	}
	if s.partitionBy == strings.ToUpper(partitionNone) {
		c.Drop = driver.Way{Reason: "a table without partitions keeps all of its rows: QuestDB has no DELETE; choose another " + optionPartitionBy}
	}
	if s.dedup != dedupOff {
		c.Correct, c.Again = driver.Way{By: "writing the rows again (DEDUP UPSERT KEYS)", Space: "partitions are rewritten"}, driver.Replaces
	}
	return c
}

// partitionStart returns the start of the partition of a time.
func (s tableSettings) partitionStart(t time.Time) time.Time {
	t = t.UTC()
	year, month, day := t.Date()
	switch s.partitionBy {
	case "HOUR":
		return t.Truncate(time.Hour)
	case "WEEK": // from Monday on
		return time.Date(year, month, day-(int(t.Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
	case "MONTH":
		return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	case "YEAR":
		return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// DropBefore implements driver.DB.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	upTo := d.settings.tables.partitionStart(before)
	condition := fmt.Sprintf(" WHERE %s < %s", timeColumn, timeLiteral(upTo))
	var names []string
	for _, t := range s.Tables {
		name := quoteIdent(tableName(t.Name))
		rows, err := d.own.Query(ctx, "SELECT count() FROM "+name+condition)
		if err == nil && rows[0][0].Int > 0 { // otherwise QuestDB refuses the statement
			err = d.own.Exec(ctx, "ALTER TABLE "+name+" DROP PARTITION"+condition)
		}
		if err != nil {
			return time.Time{}, fmt.Errorf("dropping partitions of table %s: %w", t.Name, err)
		}
		names = append(names, newDialect().Text(tableName(t.Name)))
	}
	return upTo, d.awaitApplied(ctx, strings.Join(names, ", "))
}

// awaitApplied returns when the present transactions of the logs of the tables, a list in SQL, are applied.
func (d *database) awaitApplied(ctx context.Context, tables string) error {
	var goals map[string]int64 // by table
	return poll.Wait(ctx, firstLook, longestLook, func() (bool, error) {
		rows, err := d.own.Query(ctx, "SELECT name, suspended, writerTxn, sequencerTxn FROM wal_tables() WHERE name IN ("+tables+")")
		if err != nil {
			return false, err
		}
		if goals == nil {
			goals = make(map[string]int64)
			for _, row := range rows {
				goals[row[0].String()] = row[3].Int
			}
		}
		for _, row := range rows {
			if row[1].Int != 0 {
				return false, fmt.Errorf("QuestDB has suspended table %s; see wal_tables()", row[0])
			}
			if row[2].Int < goals[row[0].String()] {
				return false, nil
			}
		}
		return true, nil
	})
}
