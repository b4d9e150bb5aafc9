package questdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/query"
)

// The interval of checks of the server.
const (
	firstLook   = time.Millisecond
	longestLook = 50 * time.Millisecond
)

// stalled is how many of the option's time-outs may pass without an applied transaction of a log: a
// single one can be large.
const stalled = 5

// Settle implements driver.DB: the write-ahead logs of the tables have been applied, and rows sent over
// TCP have arrived. A table that QuestDB has suspended is an error.
func (d *database) Settle(ctx context.Context) error {
	tables, timeout := d.createdTables(), d.settings.wire.Timeout
	var applying, arriving poll.Progress
	err := poll.Wait(ctx, firstLook, longestLook, func() (bool, error) {
		at, behind, err := d.appliedTransactions(ctx, tables)
		if err != nil {
			return false, err
		}
		if unchanged := applying.UnchangedFor(at); behind != "" {
			if unchanged > stalled*timeout {
				err = fmt.Errorf("QuestDB has applied nothing of its write-ahead log for %v: %s; look at its log, or whether cairo.wal.apply.enabled is false, or raise the option %s",
					stalled*timeout, behind, connection.Timeout)
			}
			return false, err
		}
		missing, rows, err := d.missing(ctx)
		if err != nil || missing <= 0 {
			return true, err
		}
		if arriving.UnchangedFor(rows) > timeout {
			err = fmt.Errorf("%d of the rows that were sent over TCP are not there, and none came for %v: the server's log says which it refused", missing, timeout)
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("settling QuestDB: %w", err)
	}
	return nil
}

// appliedTransactions returns how many transactions of the logs of the tables, a list in SQL, are applied, and
// which table is behind, in words; empty: none.
func (d *database) appliedTransactions(ctx context.Context, tables string) (at int64, behind string, err error) {
	rows, err := d.own.Query(ctx, "SELECT name, suspended, writerTxn, sequencerTxn, errorTag, errorMessage FROM wal_tables() WHERE name IN ("+tables+")")
	if err != nil {
		return 0, "", err
	}
	for _, row := range rows {
		if row[1].Int != 0 {
			return 0, "", fmt.Errorf("QuestDB has suspended table %s: %s; fix that and resume it by ALTER TABLE %[1]s RESUME WAL",
				row[0], httpwire.OneLine(row[4].String()+" "+row[5].String()))
		}
		at += row[2].Int
		if row[2].Int < row[3].Int {
			behind = fmt.Sprintf("table %s is at transaction %d of %d", row[0], row[2].Int, row[3].Int)
		}
	}
	return at, behind, nil
}

// missing returns how many rows sent over TCP are not visible, and how many are.
func (d *database) missing(ctx context.Context) (missing, rows int64, err error) {
	sent := d.SentRows()
	if sent == 0 {
		return 0, 0, nil
	}
	for _, t := range d.Tables() {
		answer, err := d.own.Query(ctx, "SELECT count() FROM "+quoteIdent(tableName(t.Name)))
		if err != nil {
			return 0, 0, err
		}
		rows += answer[0][0].Int
	}
	return sent - rows, rows, nil
}

// walPending is the metric that ReadMetrics returns.
const walPending = "wal_transactions_pending"

// ReadMetrics implements driver.DB.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	rows, err := d.own.Query(ctx, "SELECT sum(sequencerTxn - writerTxn) FROM wal_tables() WHERE name IN ("+d.createdTables()+")")
	if err != nil {
		return nil, fmt.Errorf("reading the state of QuestDB's write-ahead log: %w", err)
	}
	out := map[string]float64{}
	if len(rows) == 1 && len(rows[0]) == 1 && rows[0][0].Kind != query.Null {
		out[walPending] = float64(rows[0][0].Int)
	}
	return out, nil
}

// createdTables returns the names of the tables that Create created, as a list of texts in SQL.
func (d *database) createdTables() string {
	list := []string{"''"} // not the name of a table
	for _, t := range d.Tables() {
		list = append(list, newDialect().Text(tableName(t.Name)))
	}
	return strings.Join(list, ", ")
}
