package result

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// Crash is what crashes did to a target after its loads. Each crash is a round: while the writers of the load
// write further rows at full speed, the target crashes; after its restart the rows of the round are read.
type Crash struct {
	Seed      uint64       `json:"seed"`                 // selected the time of each crash
	Patience  float64      `json:"patience"`             // seconds without a change until rows that are still missing count as lost
	RoundRows int64        `json:"round_rows,omitempty"` // rows of a round
	Planned   int          `json:"planned,omitempty"`    // rounds that the experiment wanted, of kinds that were possible
	Ended     string       `json:"ended,omitempty"`      // why there are fewer; empty: there are as many
	Rounds    []CrashRound `json:"rounds"`               // in order
	// Unsupported is why crashes of a kind were not possible, by kind.
	Unsupported map[string]string `json:"unsupported,omitempty"`
	// Child says that the rounds reached an embedded database in another way than the load; empty: they did not.
	Child string `json:"child,omitempty"`
	Disk  string `json:"disk,omitempty"` // disk made for the crashes, on which the data was; empty: none
	// ByCommand says that the restart command of a user's server killed it.
	ByCommand bool `json:"by_command,omitempty"`
}

// Kinds of crashes.
const (
	CrashKill  = "kill"  // SIGKILL to all processes of the server
	CrashPause = "pause" // SIGSTOP for a while, then SIGCONT: nothing may be lost
	CrashPower = "power" // CrashKill, and writes that were not forced to disk are dropped
)

// CrashKinds lists the kinds.
func CrashKinds() []string { return []string{CrashKill, CrashPause, CrashPower} }

// CrashRound is a crash. Its counts are of rows unless they say otherwise.
type CrashRound struct {
	Kind   string `json:"type" redact:"-"` // see CrashKinds
	Stored int64  `json:"stored"`          // acknowledged before the round: the size of the data
	Bytes  int64  `json:"bytes"`           // size on disk before the round; -1: unknown

	Acked        int64 `json:"acked"`         // of the round, acknowledged before the crash
	InFlight     int64 `json:"in_flight"`     // under way at the crash: the target may have stored them or not
	Unsent       int64 `json:"unsent"`        // of the round, not sent
	AckedBatches int   `json:"acked_batches"` // of the rows of Acked
	// LostBatches is the number of acknowledged batches that lost a row, and Lost the number of lost rows:
	// they were acknowledged, and missing when the patience ended.
	LostBatches int   `json:"lost_batches,omitempty"`
	Lost        int64 `json:"lost,omitempty"` // see LostBatches
	// Holes says that the target has a row that was sent after a lost one had been acknowledged. Otherwise the
	// lost rows are in the batches that were acknowledged last, apart from batches under way together.
	Holes     bool   `json:"holes,omitempty"`
	LostIn    string `json:"lost_in,omitempty"`    // which batches lost rows, in words
	FirstLost string `json:"first_lost,omitempty"` // series and time of the lost row that was acknowledged first
	LastLost  string `json:"last_lost,omitempty"`  // and last
	// LostEarlier is the number of rows of the load or of earlier rounds that were there before the crash and
	// are missing after it; -1: not counted.
	LostEarlier int64 `json:"lost_earlier,omitempty"`
	Extra       int64 `json:"extra,omitempty"`    // found, whole or in part, and never acknowledged, which is allowed
	Torn        int64 `json:"torn,omitempty"`     // acknowledged, and found with some of their fields only
	Wrong       int64 `json:"wrong,omitempty"`    // found with other values, acknowledged or not
	Repeated    int64 `json:"repeated,omitempty"` // found twice although they had been sent once
	// Doubled is the number of rows that the target has twice after the client sent again everything that
	// was not acknowledged; Repeated is a part of it.
	Doubled int64 `json:"doubled,omitempty"`

	// Answers and Complete are the seconds from the start of the restart, or of SIGCONT, until the target
	// answered, and until it had all acknowledged rows; -1: not within the patience.
	Answers  float64 `json:"answers"`
	Complete float64 `json:"complete"`          // see Answers
	Writers  string  `json:"writers,omitempty"` // why the writers ended although the target was only paused; empty: they did not
	Failed   string  `json:"failed,omitempty"`  // why the round could not be judged; empty: it was
}

// Intact reports whether the target answered again, and had every acknowledged row once and as it was sent.
func (r *CrashRound) Intact() bool {
	return r.Failed == "" && r.Answers >= 0 && r.Lost == 0 && r.LostEarlier <= 0 && r.Torn == 0 && r.Wrong == 0 && r.Repeated == 0
}

// Finding describes in words what a crash did to the rows: "lost rows of 43 of 50 acknowledged batches: …".
func (r *CrashRound) Finding() string {
	switch {
	case r.Failed != "":
		return "not judged: " + r.Failed
	case r.Answers < 0:
		return "did not answer again"
	}
	var parts []string
	add := func(n int64, before, after string) {
		if n > 0 {
			rows := " rows"
			if n == 1 {
				rows = " row"
			}
			parts = append(parts, before+humanize.Comma(n)+rows+after)
		}
	}
	if r.Lost > 0 {
		text := fmt.Sprintf("lost rows of %d of %d acknowledged batches (%s of %s rows): ", r.LostBatches, r.AckedBatches, humanize.Comma(r.Lost), humanize.Comma(r.Acked))
		if r.LostIn != "" {
			text += r.LostIn + ", "
		}
		switch {
		case r.Lost == r.Acked:
			text += "all"
		case r.Holes:
			text += "holes, from " + r.FirstLost + " to " + r.LastLost
		case r.FirstLost == "":
			text += "the last ones"
		default:
			text += "from " + r.FirstLost + " to " + r.LastLost
		}
		parts = append(parts, text)
	}
	add(r.LostEarlier, "lost ", " from before the round")
	add(r.Torn, "", " torn: some fields are missing")
	add(r.Repeated, "", " stored twice, although sent once")
	add(r.Wrong, "", " with wrong values")
	add(r.Doubled-r.Repeated, "", " stored twice, after everything that was not acknowledged was sent again")
	if len(parts) == 0 {
		parts = append(parts, "nothing lost")
	}
	add(r.Extra, "stored ", " that were never acknowledged")
	if r.Writers != "" {
		parts = append(parts, "the writers ended: "+r.Writers)
	}
	return strings.Join(parts, "; ")
}
