package result

import (
	"cmp"
	"slices"

	"github.com/tsmark/tsmark/measure"
)

// QuerySet describes the different queries that were generated for one type.
type QuerySet struct {
	Type  string `json:"type" redact:"-"` // query type
	Count int    `json:"count"`           // queries that were drawn
	// Fingerprint identifies the queries: see query.Fingerprint. Definition is the fingerprint of
	// the first DefinitionCount queries that the dataset's own seed generates in the same way,
	// whatever the run's seed; it differs between queries about different subjects.
	Fingerprint string `json:"fingerprint" redact:"-"`
	Definition  string `json:"definition" redact:"-"` // see Fingerprint
}

// DefinitionCount is the number of queries that represent all queries generated in the same way.
const DefinitionCount = 100

// SameDefinition reports whether both sets are generated in the same way, so that their figures can
// be compared even if the seeds differ.
func (q *QuerySet) SameDefinition(other *QuerySet) bool { return q.Definition == other.Definition }

// Equal reports whether both are the same queries.
func (q *QuerySet) Equal(other *QuerySet) bool { return q.Fingerprint == other.Fingerprint }

// OtherQueries returns a query type whose queries the runs generate in different ways; empty: no
// type differs, or the queries of a run are unknown.
func OtherQueries(a, b *Run) (queryType string) {
	for i := range a.QuerySets {
		if name := a.QuerySets[i].Type; !AlikeQueries(a, b, name) {
			return name
		}
	}
	return ""
}

// AlikeQueries reports whether two runs may generate the queries of a type in the same way: nothing
// known about them differs.
func AlikeQueries(a, b *Run, queryType string) bool {
	p, q := a.QuerySet(queryType), b.QuerySet(queryType)
	return p == nil || q == nil || p.SameDefinition(q)
}

// QuerySet returns the queries that were generated for a type; nil: none, or unknown.
func (r *Run) QuerySet(queryType string) *QuerySet {
	for i := range r.QuerySets {
		if q := &r.QuerySets[i]; q.Type == queryType {
			return q
		}
	}
	return nil
}

// Latency has the figures of a histogram, and the histogram itself in HdrHistogram's V2 compressed
// encoding (base64), in nanoseconds.
type Latency struct {
	measure.Summary
	Histogram string `json:"histogram,omitempty" redact:"-"` // HdrHistogram V2, compressed, base64, in nanoseconds
}

// Queries is the measurement of one query type.
type Queries struct {
	Type string `json:"type" redact:"-"` // name of the query type
	Help string `json:"help" redact:"-"` // one line about the query type
	// Texts is TextsTSBS if the queries were TSBS's own texts, whose correct answers are unknown
	// and which differ in meaning between systems; TextsOwn if the experiment supplied the texts;
	// empty: tsmark's texts.
	Texts string `json:"texts,omitempty"`
	// By is ByReference if Verdict compares with the reference text of an own query, ByAgreement if
	// it compares with other targets of the run; empty: with the oracle.
	By string `json:"by,omitempty"`
	// Text is the first query of the type as sent, and Plan the system's plan of it; empty: unknown,
	// or not reported. They are of the first repeat only.
	Text string `json:"text,omitempty"`
	Plan string `json:"plan,omitempty"` // see Text
	// Profile is the server's CPU profile, taken after all measured rounds; nil: none was taken.
	Profile *Profile `json:"profile,omitempty"`
	// Disagrees describes how another system answered the same query of a user-provided text, if
	// the correct answer is unknown.
	Disagrees   string  `json:"disagrees,omitempty"`
	NoReference string  `json:"no_reference,omitempty"` // why the reference text of an own query could not be run
	Unsupported string  `json:"unsupported,omitempty"`  // reason; no query was run
	Verdict     Verdict `json:"verdict"`                // result of the comparison with expected answers
	Withheld    string  `json:"withheld,omitempty"`     // why the figures below are not shown as a result
	// Failed is why the figures are missing although no answer was wrong: a query had no answer.
	Failed   *Failure `json:"failed,omitempty"`
	Workers  int      `json:"workers"`          // concurrent workers that run queries
	Executed int64    `json:"executed"`         // recorded queries: excludes burn-in, includes timeouts
	WarmUp   WarmUp   `json:"warm_up,omitzero"` // queries before the measurement
	BurnIn   int64    `json:"burn_in"`          // executed first and not recorded
	AtLeast  int64    `json:"at_least"`         // cut off by the time limit: their latency is at least the recorded one
	// Paused is the number of queries in flight while tsmark itself was stopped or had no
	// processor, and PausedTime is their total time in seconds. All figures exclude them.
	Paused     int64   `json:"paused,omitempty"`
	PausedTime float64 `json:"paused_time,omitempty"` // see Paused
	// ClientTime is the CPU time, in seconds, that tsmark itself used between sending each query
	// and the last byte of its answer: see ClientShare. 0: not measured.
	ClientTime float64 `json:"client_time,omitempty"`
	// DriverTime is the part of the total time of queries that were not cut off, in seconds, that
	// passed in an external driver, by its own clock; 0: not reported.
	DriverTime float64 `json:"driver_time,omitempty"`
	Distinct   int     `json:"distinct"` // different queries available to run
	Timeout    float64 `json:"timeout"`  // seconds after which a query is cut off; 0: never
	TimeBox    float64 `json:"time_box"` // 0: none
	// Wall is the wall-clock time from the first query to the last answer, excluding burn-in. In a
	// closed loop PausedTime divided by the workers is subtracted.
	Wall      float64 `json:"wall"`
	PerSecond float64 `json:"per_second"` // queries per second of all workers
	Rows      int64   `json:"rows"`       // of all answers
	Bytes     int64   `json:"bytes"`      // of all answers
	// Cache describes how caches were made cold before each query; empty: they were not. Cold
	// reports whether that worked; a query whose caches could not be made cold is not called cold.
	Cache string `json:"cache,omitempty"`
	Cold  bool   `json:"cold,omitempty"` // see Cache
	// Starts are the times in seconds from starting the server to the end of a cold query's answer, of
	// each query for which tsmark started it. They include what the server does before it answers, such
	// as replaying its write-ahead log.
	Starts []float64 `json:"starts,omitempty"`
	First  int       `json:"first,omitempty"` // position of Each[0] in the type's sequence of generated queries
	// Each is the time of each query in seconds, by its position after First: the service time, or
	// in an open loop with Open.EachResponse the response time; negative: the query was cut off
	// after that time; 0: not run, or not recorded. Only the first time counts for a query that ran
	// repeatedly. Each allows comparing targets over the same queries: see package estimate.
	Each []float64 `json:"each,omitempty"`
	// Read is the amount of data that the system reports to have read for a query: with an aggregate,
	// of a few queries before the measurement, otherwise of the query of Text. Nil: not recorded, or
	// not reported.
	Read *Read `json:"read,omitempty"`
	// Sample describes how the answers in Verdict were selected.
	Sample  Sample  `json:"sample,omitzero"`
	Service Latency `json:"service"` // from sending a query to the last byte of its answer
	// Values is the number of values in all answers, NULLs included: rows times the columns other
	// than time and tags. Accumulated is the total time of each worker's queries in seconds,
	// excluding those cut off; nil: neither is recorded.
	Values      int64     `json:"values,omitempty"`
	Accumulated []float64 `json:"accumulated,omitempty"` // see Values
	Cell
	// Open has the additional figures of an open loop; nil: a closed loop, in which each worker
	// sends its next query once it has its answer.
	Open *OpenLoop `json:"open,omitempty"`
}

// Read is the amount of data that a system read to answer a query, from disk or from memory, in its
// own terms.
type Read struct {
	Rows  float64 `json:"rows"`  // of tables and aggregates, median; -1: not reported
	Bytes float64 `json:"bytes"` // median; -1: not reported
	// EachBytes is the bytes of each query; empty: not reported.
	EachBytes []float64 `json:"each_bytes,omitempty"`
	// CacheHits and CacheMisses are blocks found in the system's cache or not, and Files the files, or
	// parts, that it opened. 0: none, or not reported.
	CacheHits   float64 `json:"cache_hits,omitempty"`
	CacheMisses float64 `json:"cache_misses,omitempty"` // see CacheHits
	Files       float64 `json:"files,omitempty"`        // see CacheHits
}

// Profile is where a server spent its CPU time while one connection ran the queries of a type,
// outside the measured rounds.
type Profile struct {
	File    string  `json:"file"`    // in the folder of the run, in the format of pprof
	Seconds float64 `json:"seconds"` // that were profiled
	Samples int64   `json:"samples"` // of the stack; of a server with a free processor about 100 a second of CPU time
	// Functions are those with the largest shares.
	Functions []ProfiledFunction `json:"functions"`
}

// ProfiledFunction is a function's share of the samples of a Profile.
type ProfiledFunction struct {
	Name  string  `json:"name" redact:"-"` // of the function
	Self  float64 `json:"self"`            // samples in the function itself
	Total float64 `json:"total"`           // including the functions that it called
}

// Values of Queries.Texts.
const (
	TextsTSBS = "tsbs"
	TextsOwn  = "own"
)

// Short descriptions of TextsTSBS and TextsOwn in reports.
const (
	TSBSText = "TSBS's text"
	OwnText  = "own text"
)

// Values of Queries.By.
const (
	ByReference = "reference"
	ByAgreement = "agreement"
)

// VerifiedBy is the source of the expected answers: oracle, ByReference or ByAgreement; empty: the
// answers were not compared and are not verified.
func (q *Queries) VerifiedBy() string {
	if !q.Verdict.OK() {
		return ""
	}
	return cmp.Or(q.By, "oracle")
}

// TextName is the name of the queries in reports if their meaning is unknown; empty: it is known.
func (q *Queries) TextName() string {
	switch q.Texts {
	case TextsTSBS:
		return TSBSText
	case TextsOwn:
		return OwnText
	}
	return ""
}

// VerdictText returns the verdict on the answers as reports print it.
func (q *Queries) VerdictText() string {
	if name := q.TextName(); name != "" && q.Verdict == (Verdict{}) {
		if q.Disagrees != "" {
			name += ", answers differ"
		}
		return q.Verdict.String() + ": " + name
	}
	if q.By != "" && q.Verdict.OK() {
		return q.Verdict.String() + " by " + q.By
	}
	return q.Verdict.String()
}

// ClientShare is the part of the service time of the queries in which tsmark itself used a
// processor; absent: not measured, for example for an embedded target.
func (q *Queries) ClientShare() Value {
	if q.ClientTime <= 0 || q.Service.Count == 0 {
		return Absent()
	}
	return ratio(Value(q.ClientTime), Value(q.Service.Mean*float64(q.Service.Count)))
}

// Texts returns TextsTSBS if the queries of the run have that value, otherwise an empty string.
func (r *Run) Texts() string {
	for i := range r.Targets {
		t := &r.Targets[i]
		for _, of := range t.MeasuredRepeats() {
			for j := range of.Queries {
				if q := &of.Queries[j]; q.Texts == TextsTSBS {
					return q.Texts
				}
			}
		}
	}
	return ""
}

// OwnTexts lists the query types of the run that are TextsOwn and have unverified answers.
func (r *Run) OwnTexts() []string {
	var types []string
	for i := range r.Targets {
		for j := range r.Targets[i].Queries {
			q := &r.Targets[i].Queries[j]
			if q.Texts == TextsOwn && q.Verdict == (Verdict{}) && q.Unsupported == "" && !slices.Contains(types, q.Type) {
				types = append(types, q.Type)
			}
		}
	}
	return types
}

// WarmUp counts the queries that ran before the clock started, so that neither connections nor the
// system (which may compile just in time) were cold. All figures exclude them.
type WarmUp struct {
	Queries int64   `json:"queries"` // of all workers together
	Seconds float64 `json:"seconds"` // wall-clock time until the last worker was warm
}

// Add adds another warm-up.
func (w *WarmUp) Add(other WarmUp) {
	w.Queries += other.Queries
	w.Seconds += other.Seconds
}

// OpenLoop is the measurement of queries that arrive by a schedule of their own, excluding burn-in.
type OpenLoop struct {
	Schedule string  `json:"schedule"` // as pace.Parse reads it
	Queue    int     `json:"queue"`    // arrivals that could wait for a worker
	Arrivals int64   `json:"arrivals"` // scheduled arrivals, including dropped ones
	Offered  float64 `json:"offered"`  // mean arrivals per second; 0: fewer than two arrivals
	Dropped  int64   `json:"dropped"`  // arrivals that found the queue full and were never run
	Waiting  int64   `json:"waiting"`  // queue length at the last arrival
	// Response is the time from the intended start of a query to the last byte of its answer. It
	// includes the wait for a worker, as a user would see it. Dropped arrivals have no response
	// time.
	Response Latency `json:"response"`
	// EachResponse says that Queries.Each has response times; false: service times, as runs of
	// earlier versions recorded.
	EachResponse bool `json:"each_response,omitempty"`
	// Lag is the delay with which the client itself released arrivals. It is part of Response.
	Lag Latency `json:"lag"`
	// Saturated describes how the schedule was missed; empty: it was kept.
	Saturated string `json:"saturated,omitempty"`
	// Search is the search that found this rate to be the highest that keeps an objective; nil: the
	// rate was configured.
	Search *RateSearch `json:"search,omitempty"`
}

// ByResponse reports whether reports compare response times of the queries; otherwise they compare
// service times.
func (q *Queries) ByResponse() bool { return q != nil && q.Open != nil && q.Open.EachResponse }

// Time returns the times that reports compare: in an open loop, which does not wait for the target,
// how long a user waits.
func (q *Queries) Time() *Latency {
	if q.ByResponse() {
		return &q.Open.Response
	}
	return &q.Service
}

// ReasonUncompared returns why the times are not compared with those of other targets, beginning with a
// word for a table's cell and a colon; empty: they may be. The longer a saturated loop runs, the
// longer its response times are.
func (q *Queries) ReasonUncompared() string {
	switch {
	case q == nil || q.Open == nil:
		return ""
	case q.Open.Saturated != "":
		return q.Open.Saturated
	case q.Open.Search != nil:
		return "own rate: times at the highest rate of each target are not compared, but these rates"
	}
	return ""
}

// RateSearch is a search for the highest arrival rate, in arrivals per second, that keeps an
// objective. The true rate lies between Kept and Failed.
type RateSearch struct {
	Objective string    `json:"objective"` // as rate.Parse reads it
	Precision float64   `json:"precision"` // requested, as a fraction of the rate
	Kept      float64   `json:"kept"`      // highest rate that kept the objective; 0: none did
	Failed    float64   `json:"failed"`    // lowest rate that did not keep it; 0: none
	Tries     []RateTry `json:"tries"`     // in order of execution
}

// RateTry is one step of a search.
type RateTry struct {
	Rate   float64 `json:"rate"`             // arrivals per second
	Failed string  `json:"failed,omitempty"` // why the objective was not kept; empty: it was
}

// UndecidedTry returns the try that ended the search because it could not be judged; nil: every try
// was judged.
func (s *RateSearch) UndecidedTry() *RateTry {
	if len(s.Tries) == 0 {
		return nil
	}
	if last := &s.Tries[len(s.Tries)-1]; last.Failed != "" && last.Rate != s.Failed {
		return last
	}
	return nil
}

// NotFound says why the search found no highest rate; empty: it found one.
func (s *RateSearch) NotFound() string {
	undecided := s.UndecidedTry()
	switch {
	case undecided != nil:
		return undecided.Failed
	case s.Kept > 0:
		return ""
	case len(s.Tries) == 0:
		return "nothing was tried"
	}
	return "none keeps " + s.Objective + ": " + s.Tries[len(s.Tries)-1].Failed
}

// Verdict is the result of comparing answers with the expected ones.
type Verdict struct {
	Checked    int    `json:"checked"`              // answers compared
	Empty      int    `json:"empty"`                // of these, correctly empty
	Rows       int64  `json:"rows"`                 // rows compared
	Difference string `json:"difference,omitempty"` // the first one: query, row, expected, actual
	// Documented is the number of answers that differ from Prometheus's and match what the system
	// documents in place of them.
	Documented int    `json:"documented,omitempty"`
	Reason     string `json:"reason,omitempty"` // the documented difference of the first of them
}

// OK reports whether answers were compared and all of them matched.
func (v Verdict) OK() bool { return v.Checked > 0 && v.Difference == "" }

// String returns the verdict as reports print it.
func (v Verdict) String() string {
	switch {
	case v.Difference != "":
		return "wrong"
	case v.Checked == 0:
		return "not verified"
	case v.Empty == v.Checked:
		return "verified (empty)"
	case v.Documented > 0:
		return "differs as documented"
	}
	return "verified"
}

// Outcome says whether the figures of a query type are valid, and why not.
type Outcome int

// The outcomes, from worst to best.
const (
	NotRun      Outcome = iota // not recorded, or only checked
	Unsupported                // the system cannot answer: see Queries.Unsupported
	Withheld                   // an answer was wrong, or a check cast doubt on it: see Queries.Reason
	Failed                     // a query had no answer: see Queries.Failed
	Empty                      // correct, but all expected answers are empty
	Unverified                 // the answers were not compared
	Verified
)

// Outcome returns whether the figures are valid; NotRun if q is nil.
func (q *Queries) Outcome() Outcome {
	switch {
	case q == nil:
		return NotRun
	case q.Unsupported != "":
		return Unsupported
	case q.Withheld != "" || q.Verdict.Difference != "":
		return Withheld
	case q.Failed != nil:
		return Failed
	case q.Service.Count == 0:
		return NotRun
	case q.Verdict.Checked == 0:
		return Unverified
	case q.Verdict.Empty == q.Verdict.Checked:
		return Empty
	}
	return Verified
}

// Reason is why the figures are withheld, if they are.
func (q *Queries) Reason() string { return cmp.Or(q.Withheld, "the answers are wrong") }

// SameDataset reports whether two runs used the same rows.
func SameDataset(a, b *Dataset) bool { return a.Fingerprint == b.Fingerprint }
