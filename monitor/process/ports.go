package process

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// PortsInARow is the number of ports that FreePorts finds: some servers need several.
const PortsInARow = 10

// FreePorts returns the first of PortsInARow consecutive free ports of 127.0.0.1. Another process
// may take them before the caller does.
func FreePorts(ctx context.Context) (int, error) {
	var config net.ListenConfig
	free := func(port int) bool {
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		return err == nil && l.Close() == nil
	}
	for range 1000 {
		// Below the ports that systems give to outgoing connections.
		first, all := 20_000+10*rand.IntN(1200), true
		for port := first; port < first+PortsInARow && all; port++ {
			all = free(port)
		}
		if all {
			return first, nil
		}
	}
	return 0, errors.New("no ten ports in a row are free on 127.0.0.1 between 20000 and 32000")
}
