package influx

import (
	"fmt"

	"github.com/tsmark/tsmark/driver"
)

// Durability says when an acknowledged row is on disk, by the value of the server's setting; empty: the
// server does not report it.
func Durability(setting, delay string) (words string, safety driver.Safety) {
	const written = "an acknowledged batch is in the write-ahead log"
	switch delay {
	case "":
		return fmt.Sprintf("%s; whether it was forced to disk (%s) the server tells to users with all privileges only", written, setting), ""
	case "0s":
		return fmt.Sprintf("%s, and forced to disk by fsync, before it is acknowledged (%s=0s)", written, setting), driver.OnDisk
	}
	return fmt.Sprintf("%s, and forced to disk by fsync, together with others, before it is acknowledged, at the latest after %s (%s)", written, delay, setting), driver.ByTimer
}
