package iotdb

import (
	"context"
	"strings"

	"github.com/apache/iotdb-client-go/v2/common"
	"github.com/apache/iotdb-client-go/v2/rpc"
)

// creator creates measurements with a compression. Measurements created by rows have the server's
// default.
type creator struct {
	*tree
	statements []string // pending statements
}

// add adds statements that create the measurements of a device.
func (c *creator) add(path string, all []measurement) {
	columns := c.declareMeasurements(all)
	if c.aligned {
		c.statements = append(c.statements, "CREATE ALIGNED TIMESERIES "+path+"("+strings.Join(columns, ", ")+")")
		return
	}
	for _, column := range columns {
		c.statements = append(c.statements, "CREATE TIMESERIES "+path+"."+column)
	}
}

// create creates the added paths in one call; it does nothing on a nil creator. For such a call, the
// server does not report paths that exist because another writer has created them.
func (c *creator) create(ctx context.Context, by *conn) error {
	if c == nil || len(c.statements) == 0 {
		return nil
	}
	request := &rpc.TSExecuteBatchStatementReq{SessionId: by.session, Statements: c.statements}
	err := by.write(ctx, func(ctx context.Context) (*common.TSStatus, error) { return by.rpc.ExecuteBatchStatement(ctx, request) })
	c.statements = c.statements[:0]
	return err
}
