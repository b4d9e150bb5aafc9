package influxdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver/kit/poll"
)

// The protocol of influxd backup: the first byte selects a service of the server, the second one the
// request, and a line of JSON follows.
const (
	backupService = 3
	backupShard   = 0
)

// FlushMemory implements driver.DB. The server writes the values in a shard's cache to files when the
// shard is backed up: tsmark does so for each shard, as of a time at which no file is new, so that
// nothing is transferred. The protocol of backups has a port of its own.
func (d *database) FlushMemory(ctx context.Context) error {
	if d.settings.gemini() {
		return nil // Settle has done it
	}
	shards, err := d.shards(ctx, "shard")
	var address string
	if err == nil && len(shards) > 0 {
		address, err = d.backupAddress(ctx)
	}
	for _, s := range shards {
		if err == nil {
			err = d.backUpOnceIdle(ctx, address, s["id"])
		}
	}
	if err != nil {
		return fmt.Errorf("writing out the caches of %s: %w", d.location(), err)
	}
	return nil
}

// backupAddress returns the address for backups, on the host of the HTTP service.
func (d *database) backupAddress(ctx context.Context) (string, error) {
	rows, err := d.table(ctx, "SHOW DIAGNOSTICS FOR 'config'")
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		if _, port, err := net.SplitHostPort(row["bind-address"]); err == nil {
			return net.JoinHostPort(d.settings.wire.Host, port), nil
		}
	}
	return "", errors.New("the server does not say where it takes backups (bind-address)")
}

// errRefused: the server closed the connection without an answer. Its log has the reason.
var errRefused = errors.New("the server refused")

// backUpOnceIdle calls backUp until the server accepts it. The server refuses while it writes out the shard's
// cache of its own accord, and does not distinguish that from other reasons; five refusals are an error.
func (d *database) backUpOnceIdle(ctx context.Context, address, shard string) error {
	tries := 0
	return poll.Wait(ctx, 100*time.Millisecond, time.Second, func() (bool, error) {
		err := d.backUp(ctx, address, shard)
		tries++
		if errors.Is(err, errRefused) && tries < 5 {
			return false, nil
		}
		return err == nil, err
	})
}

// backUp backs up the files of a shard that are newer than all existing ones: none.
func (d *database) backUp(ctx context.Context, address, shard string) error {
	id, err := strconv.ParseUint(shard, 10, 64)
	if err != nil {
		return fmt.Errorf("the server calls a shard %q", shard)
	}
	request, err := json.Marshal(map[string]any{"Type": backupShard, "ShardID": id, "Since": "9999-01-01T00:00:00Z"})
	if err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: d.settings.wire.Timeout}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("its port for backups, %s (bind-address), is not reached from here: %w", address, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_, err = conn.Write(append(append([]byte{backupService, backupShard}, request...), '\n'))
	var answered int64
	if err == nil {
		answered, err = io.Copy(io.Discard, conn)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("backing up shard %d at %s: %w", id, address, err)
	case answered == 0:
		return fmt.Errorf("%w to back up shard %d", errRefused, id)
	}
	return nil
}
