package result

import (
	"strconv"

	"github.com/tsmark/tsmark/driver"
)

// Load is one ingestion. Its figures are withheld if the census differs, if rows were not
// acknowledged, or if an answer of the same target was wrong: see Reason.
type Load struct {
	Workers   int     `json:"workers"`    // concurrent writers
	BatchSize int     `json:"batch_size"` // rows
	Rows      int64   `json:"rows"`       // sent
	Metrics   int64   `json:"metrics"`    // sent
	WireBytes int64   `json:"wire_bytes"` // handed to the target
	Prepare   float64 `json:"prepare"`    // creating tables, before the clock
	Sent      float64 `json:"sent"`       // from the start until the last row was handed over
	Acked     float64 `json:"acked"`      // until the last row was acknowledged; 0: the protocol does not acknowledge
	Settled   float64 `json:"settled"`    // until all rows were visible and background work idle
	// Visible describes how tsmark found, on the clock, that the rows were visible; nil: it did not
	// check.
	Visible *Visible `json:"visible,omitempty"`
	Batches Latency  `json:"batches"` // from handing a batch over to its acknowledgement
	// Accumulated is the total time of each worker's batches, in seconds; nil: not recorded.
	Accumulated []float64 `json:"accumulated,omitempty"`
	// Shards is the number of accepted rows of each worker. If each worker reads a part of the
	// dataset, they are the first rows of that part: an interrupted load left these rows in the
	// database. Empty: a single reader handed out the dataset's first rows, or the numbers are
	// unknown.
	Shards []int64     `json:"shards,omitempty"`
	Rates  []RatePoint `json:"rates,omitempty"` // progress over time
	// Paused is the number of batches in flight while tsmark itself was suspended, and PausedTime
	// is their total time in seconds. Batches excludes their times.
	Paused     int64   `json:"paused,omitempty"`
	PausedTime float64 `json:"paused_time,omitempty"` // see Paused
	// DriverTime is the part of the total time of Batches, in seconds, that passed in an external
	// driver, by its own clock; 0: not reported.
	DriverTime float64 `json:"driver_time,omitempty"`
	// DiskBytes is the size after settling and all steps, once the target has flushed its memory,
	// off the clock. DiskBefore is the size of the empty tables. DiskSettled is the size before the
	// first step; without steps it is not measured. Each is -1 if unknown.
	DiskBytes   int64 `json:"disk_bytes"`
	DiskBefore  int64 `json:"disk_before"`  // see DiskBytes
	DiskSettled int64 `json:"disk_settled"` // see DiskBytes
	// DiskExcluded describes files that these sizes exclude; empty: none.
	DiskExcluded string `json:"disk_excluded,omitempty"`
	// DiskPending describes data that the target had not yet written when DiskBytes was measured;
	// the size is then incomplete and not compared. Empty: none was reported.
	DiskPending string `json:"disk_pending,omitempty"`
	// DiskParts are sizes of parts of DiskBytes, as the target reports them; nil: it reports none.
	DiskParts []driver.FootprintPart `json:"disk_parts,omitempty"`
	Steps     []Step                 `json:"steps,omitempty"`    // executed after settling
	Withheld  string                 `json:"withheld,omitempty"` // why the figures are withheld; empty: they are not
	// Beside is why the load has no figures although its census found no difference: an answer of
	// the same target was wrong. Target.Pool derives it; it is not stored. See Reason.
	Beside string `json:"beside,omitempty"`
	// Retries describes the batches that failed and were sent again; nil: no batch failed, or the
	// load ended with the first failure.
	Retries *Retries `json:"retries,omitempty"`
	// Mixed describes the phase that wrote the rest of the dataset while queries ran. The rates of
	// the load are those of the rows before it. Nil: there was no mixed phase.
	Mixed *Mixed `json:"mixed,omitempty"`
	// Life is what followed the load: see Life. Nil: nothing did.
	Life *Life `json:"life,omitempty"`
	// Aggregate is the continuous aggregate that was created from the loaded rows; nil: none was
	// requested.
	Aggregate *Aggregate `json:"aggregate,omitempty"`
	// Growth describes a load in steps that introduced tags and fields no table had; nil: tables
	// were created with all columns.
	Growth *Growth `json:"growth,omitempty"`
	// Unverified is why the rows were not counted after the load, or after its life; empty: they were
	// counted.
	Unverified string         `json:"unverified,omitempty"`
	Skipped    int64          `json:"skipped,omitempty"` // bad lines of a file that were skipped
	Census     []CensusResult `json:"census,omitempty"`  // comparison with the dataset, by table; see FinalCensus
	Cell
}

// Visible describes how tsmark found that the rows of a load were visible.
type Visible struct {
	Rows     int     `json:"rows"`              // rows that were queried and found: the last rows, and further rows selected at random
	Counted  int64   `json:"counted,omitempty"` // rows that the target counted; 0: nothing was counted
	Attempts int     `json:"attempts"`          // attempts until all rows were found
	Seconds  float64 `json:"seconds"`           // duration of the last attempt: the cost of checking a system whose rows were visible
	// Missing describes the rows that were still invisible when no further rows had appeared for a
	// while; empty: none.
	Missing   string `json:"missing,omitempty"`
	Unchecked string `json:"unchecked,omitempty"` // why no rows were queried
	// Late is the number of seconds between that check and the time when the load settled, because
	// the census found rows missing that appeared later; 0: it found all rows. Settled includes it.
	Late float64 `json:"late,omitempty"`
}

// Cell is the place of a measurement on the run's time line, and the client resources that it used.
type Cell struct {
	From float64 `json:"from,omitempty"` // seconds since the run's start, before the clock of the measurement
	To   float64 `json:"to,omitempty"`   // seconds since the run's start, after the measurement
	// Client is the resource usage of the client itself; nil: unknown, or the target shares its
	// process.
	Client *Client `json:"client,omitempty"`
	// ClientBound says why the client rather than the target may have set the
	// pace; empty: it did not.
	ClientBound string `json:"client_bound,omitempty"`
	// Noise is the activity of other processes on the machine during the measurement; nil: not
	// observed.
	Noise *Noise `json:"noise,omitempty"`
	// Parts are the shares of the agents, ordered by share; nil: there was one client. The parts of
	// a mixed phase have rows and queries.
	Parts []Part `json:"parts,omitempty"`
	// Upkeep describes background maintenance of the tables by the system, such as vacuums, up to
	// the end of the load and its steps, or up to the start of the round of queries. Empty:
	// unknown.
	Upkeep string `json:"upkeep,omitempty"`
	// Stopped is the rule that ended the queries of a type: StoppedByCount, StoppedByTime, or a
	// result of StoppedByInterval or StoppedBefore; empty: unknown, or no rule.
	Stopped string `json:"stopped,omitempty"`
}

// Rules that end the queries of a type.
const (
	StoppedByCount = "all run"
	StoppedByTime  = "time box"
	// StoppedByIntervals is part of the results of StoppedByInterval and StoppedBefore.
	StoppedByIntervals = "interval within "
)

// StoppedBefore says that another rule ended the queries before the confidence interval was narrow
// enough: "time box before interval within 2 %".
func StoppedBefore(rule string, share float64) string {
	return rule + " before " + StoppedByInterval(share)
}

// StoppedByInterval says that the confidence interval of the median is within a share of it:
// "interval within 2 %".
func StoppedByInterval(share float64) string {
	return StoppedByIntervals + strconv.FormatFloat(100*share, 'g', 3, 64) + " %"
}

// Step is an operation after a load, timed separately.
type Step struct {
	Name      string  `json:"name"`            // name of the step, such as vacuum
	Seconds   float64 `json:"seconds"`         // includes settling again
	DiskBytes int64   `json:"disk_bytes"`      // after it; -1: not known
	Noise     *Noise  `json:"noise,omitempty"` // what other processes used; nil: unknown
}

// RatePoint is the progress of a load in one reporting period.
type RatePoint struct {
	At   float64 `json:"at"`   // seconds since the start, end of the period
	Rows int64   `json:"rows"` // rows of the period
}

// CensusResult compares the expected contents of a table with its actual contents.
type CensusResult struct {
	Table    string `json:"table"`    // name of the table
	Expected int64  `json:"expected"` // rows
	Counted  int64  `json:"counted"`  // rows; -1: the system counts points only
	// Lost is the number of missing acknowledged rows, and Duplicates the number of rows stored
	// twice because they were sent twice. If both occurred and distinct rows could not be counted,
	// only their difference is known: see Contents.PossiblyMissing.
	Lost       int64 `json:"lost,omitempty"`
	Duplicates int64 `json:"duplicates,omitempty"` // see Lost
	// Merged is the number of rows that replaced another row with equal tags and time. Expected counts
	// one row of each such pair.
	Merged  int64  `json:"merged,omitempty"`
	Problem string `json:"problem,omitempty"` // first difference; empty: none, duplicates aside
	// Contents describes comparisons beyond the number of rows; nil: values were counted.
	Contents *Contents `json:"contents,omitempty"`
}

// Contents describes the comparisons of a census beyond the number of rows.
type Contents struct {
	Fields []Compared `json:"fields"` // number of fields by type of comparison, as far as the census got
	Series int64      `json:"series"` // series with rows, compared by their tags; -1: not compared
	Times  string     `json:"times"`  // comparison of the rows' times: sum, first, last; empty: none
	// Distinct is the number of distinct rows counted if rows were sent twice; -1: all rows were
	// sent once, or the number could not be determined.
	Distinct int64 `json:"distinct"`
	// PossiblyMissing is why acknowledged rows may still be missing, at most as many as there are
	// duplicates; empty: no row is missing.
	PossiblyMissing string `json:"possibly_missing,omitempty"`
	// Rows is the number of whole rows that were read back and compared: a random sample selected
	// by the run's CheckSeed. RowsUnread is why some of them were not read; empty: all were, or the
	// table already had a problem.
	Rows       int64   `json:"rows,omitempty"`
	RowsUnread string  `json:"rows_unread,omitempty"` // see Rows
	Seconds    float64 `json:"seconds"`               // duration of the table's census, including the rows read back; excluded from every clock
}

// Compared is the number of fields of a table that were compared by the same figures.
type Compared struct {
	By     string `json:"by"`     // such as count, sum, min, max
	Fields int    `json:"fields"` // number of fields
}
