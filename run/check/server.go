package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/monitor"
)

// little is the minimum free space for any run.
const little = 1 << 30

// room reports the free space for the data.
func (x *examination) room(ctx context.Context, db driver.DB) {
	const check = "free space"
	folder, free := "", int64(-1)
	if x.caps.Embedded {
		folder, x.local = x.Folder, true
		if path := x.Options["path"]; path != "" {
			folder = path
		}
	} else if db.FreeSpace != nil {
		var err error
		if folder, free, err = db.FreeSpace(ctx); err != nil {
			x.addUnknown(check, "where its data is", err)
			return
		}
	}
	if free < 0 && folder != "" && x.local {
		free = monitor.Free(ctx, folder)
	}
	switch {
	case free < 0 && folder == "":
		x.add(check, Skip, "", "the server does not tell where its data is")
	case free < 0:
		x.add(check, Skip, "", "the server's data is in %s on its host, which is not looked at from here", folder)
	case free < little:
		x.add(check, Warned, "free space on the server's disk, or load less", "%s are left for data", gibibytes(free))
	default:
		x.add(check, OK, "", "%s are left for data", gibibytes(free))
	}
}

func gibibytes(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// addSkipped adds a skipped check with the reason, unless the target has no server or discards rows:
// then there is nothing to check.
func (x *examination) addSkipped(check, why string) {
	if !x.caps.Embedded && !x.caps.Discards {
		x.add(check, Skip, "", "%s", why)
	}
}

// addUnknown adds why a server did not provide information: no server of its driver does, or this one
// failed.
func (x *examination) addUnknown(check, what string, err error) {
	if reason := driver.Unknown(""); errors.As(err, &reason) {
		x.add(check, Skip, "", "%s", oneLine(reason))
		return
	}
	x.add(check, Skip, "", "the server does not tell %s: %s", what, oneLine(err))
}

// apart is the tolerated difference between the clocks.
const apart = time.Second

// clock compares the server's clock with this machine's, by the reading with the shortest round
// trip.
func (x *examination) clock(ctx context.Context, db driver.DB) {
	const check = "clock"
	if db.ReadClock == nil {
		x.addSkipped(check, "the driver does not read the server's clock")
		return
	}
	var best driver.Reading
	for i := range x.Pings {
		r, err := db.ReadClock(ctx)
		if err != nil {
			x.addUnknown(check, "its time", err)
			return
		}
		if i == 0 || r.Received.Sub(r.Sent) < best.Received.Sub(best.Sent) {
			best = r
		}
	}
	ahead, uncertain := best.Offset()
	where := "ahead of"
	distance := ahead
	if ahead < 0 {
		where, distance = "behind", -ahead
	}
	text := fmt.Sprintf("the server's is %s %s this machine's, within %s", milliseconds(distance), where, milliseconds(uncertain))
	if distance-uncertain > apart {
		x.add(check, Warned, "have both machines take their time from one source (NTP): resources of the server are else drawn beside other seconds than they were", "%s", text)
		return
	}
	x.add(check, OK, "", "%s", text)
}

// settings reports the server's settings that distort measurements.
func (x *examination) settings(ctx context.Context, db driver.DB) {
	const check = "settings"
	if db.Advise == nil {
		x.addSkipped(check, "the driver does not look for settings that distort measurements; a run records the important settings")
		return
	}
	advice, err := db.Advise(ctx)
	switch {
	case err != nil:
		x.addUnknown(check, "them", err)
	case len(advice) == 0:
		x.add(check, OK, "", "none is known to distort the figures")
	}
	for _, one := range advice {
		x.add(check, Warned, one.Fix, "%s is %s: %s", one.Setting, one.Value, one.Effect)
	}
}

// swap reports swapped memory of this machine, if the server runs on it.
func (x *examination) swap(ctx context.Context) {
	if !x.local {
		return
	}
	const check = "swap"
	used, known := monitor.SwapUsed(ctx)
	switch {
	case !known:
		x.add(check, Skip, "", "this machine does not report it")
	case used > 0:
		x.add(check, Warned, "end unneeded processes, then swapoff -a and swapon -a", "%s of this machine's memory is on disk: what reads it waits for the disk", gibibytes(int64(used)))
	default:
		x.add(check, OK, "", "none of this machine's memory is on disk")
	}
}
