package iotdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// ReadClock implements driver.DB: the clock of the data node that responds.
func (d *database) ReadClock(ctx context.Context) (read driver.Reading, err error) {
	err = d.admin.Do(ctx, func(c *conn) error {
		sent := time.Now()
		row, err := sqlkit.QueryRow(ctx, c, "SHOW CURRENT_TIMESTAMP")
		answered := time.Now()
		if own := (*failure)(nil); errors.As(err, &own) {
			return driver.Unknown(fmt.Sprintf("IoTDB %s does not report its time: it refuses SHOW CURRENT_TIMESTAMP (%v)", d.version, err))
		}
		if err != nil {
			return err
		}
		if row[0].Kind != query.Time {
			return fmt.Errorf("the response is not a time: %v", row[0])
		}
		read = driver.Reading{Sent: sent, Received: answered, Server: time.Unix(0, row[0].Int), Unit: c.unit}
		return nil
	})
	return read, err
}

// FreeSpace implements driver.DB.
func (d *database) FreeSpace(context.Context) (folder string, free int64, err error) {
	return "", -1, driver.Unknown("IoTDB reports the sizes of its regions, but neither their folders nor the free space there: check dn_data_dirs of iotdb-system.properties on the hosts of the data nodes")
}

// concerns are the settings that distort measurements of IoTDB.
var concerns = []driver.Concern{
	{Setting: "DataReplicationFactor", Wrong: driver.IsNot("1"), Effect: "each row is stored that many times", Fix: "compare only with targets that replicate too, or set data_replication_factor=1 before the first start"},
	{Setting: "ReadConsistencyLevel", Wrong: driver.Is("weak"), Effect: "answers may come from a replica that is behind", Fix: "set read_consistency_level=strong"},
}

// Advise implements driver.DB: advice on the cluster's variables, and on nodes that are not running.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SHOW VARIABLES")
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(rows))
	for _, row := range rows {
		values[row[0].String()] = row[1].String()
	}
	found := driver.AdviseOn(concerns, values)
	nodes, err := sqlkit.QueryRows(ctx, d.admin, "SHOW CLUSTER")
	for _, node := range nodes { // its number, its type, its status
		if status := node[2].String(); status != "Running" {
			found = append(found, driver.Advice{
				Setting: fmt.Sprintf("status of %s %s", node[1], node[0]), Value: status,
				Effect: "the node takes no rows, or is gone", Fix: "look at its log, and whether its disk is full",
			})
		}
	}
	if err != nil {
		return found, err
	}
	return found, driver.Unknown("of its nodes' settings, such as wal_mode, memory and compaction, IoTDB tells nothing: look at iotdb-system.properties")
}
