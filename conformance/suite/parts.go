package suite

import (
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Part is a part of the suite.
type Part struct {
	Name  string
	About string // its requirement, as a sentence without a period
	Run   func(T)
}

// Run runs parts, one after the other.
func (s *Suite) Run(t T, parts []Part) {
	for _, p := range parts {
		s.sub(t, p.Name, p.Run)
	}
}

// Every returns all parts: those of All, many series, and parts that drivers of tsmark's own have tests
// for elsewhere.
func (s *Suite) Every() []Part {
	uses := s.mostWorkloads(tsbs.CPUSingle(), tsbs.Devops(), tsbs.DevopsGeneric())
	return append(s.all(uses), s.manySeries(), s.reads(),
		Part{"lies", "a wrapper makes the database lie about rows and answers, and each lie is found", s.lies},
		Part{"broken connection", "rows whose acknowledgement is lost are sent again, and none is lost or counted twice", s.brokenConnection},
		Part{"cancelled load", "a load that is cancelled ends, and the next one is complete", s.cancelledLoad},
		Part{"failed query", "a query that fails ends in an error, and the next one is answered", s.failedQuery},
		Part{"cut connection", "an answer that is cut on its way is an error, never a shorter answer", s.cutConnection},
		Part{"no server", "a server that does not answer ends in one clear line without secrets", s.noServer},
		Part{"no database", "a database that is missing is not created by a command that only reads", s.noDatabase},
	)
}

// All runs what every driver must pass, except many series.
func (s *Suite) All(t T) {
	uses := tsbs.Workloads()
	if !s.caps.Embedded {
		uses = s.mostWorkloads(tsbs.CPUSingle(), tsbs.Devops(), tsbs.DevopsGeneric())
	}
	s.Run(t, append(s.all(uses), s.reads()))
}

// RunMost is All for servers that are slow or have known faults: with fewer workloads.
func (s *Suite) RunMost(t T) { s.Run(t, s.all(s.mostWorkloads(tsbs.Devops()))) }

// mostWorkloads returns two workloads, and unless the suite is short more. If it is short, the rows and
// queries of cpu-only are left to the test of several writers, if the target takes several.
func (s *Suite) mostWorkloads(more ...workload.Workload) []workload.Workload {
	switch {
	case !s.config.Short && !s.config.Brief:
		return append([]workload.Workload{tsbs.CPUOnly(), tsbs.IoT()}, more...)
	case s.caps.OneConnection || s.recorded():
		return []workload.Workload{tsbs.CPUOnly(), tsbs.IoT()}
	}
	return []workload.Workload{tsbs.IoT()}
}

// all returns the parts in the order of recordings.
func (s *Suite) all(uses []workload.Workload) []Part {
	load := func(e func(T) example, workers int) func(T) {
		return func(t T) { s.loadAndQuery(t, e(t), workers) }
	}
	always := func(e func() example) func(T) { return load(func(T) example { return e() }, 1) }
	cpu := func(rows int64) func(T) {
		return load(func(t T) example { return limitRows(s.cpuOnly(t, 0), rows) }, 1)
	}
	parts := []Part{{"cpu-only with hosts that appear late", "rows arrive unchanged, and TSBS's queries have the expected answers, also of hosts that appear during the load",
		load(func(t T) example { return s.cpuOnly(t, 3) }, 1)}}
	for _, use := range uses {
		parts = append(parts, Part{use.Name(), "the rows and queries of the workload " + use.Name(), load(func(t T) example { return s.useCase(t, use, 0) }, 1)})
	}
	parts = append(parts, Part{iotdb.Workload().Name(), "rows and queries of IoTDB-Benchmark: irregular, late, repeated, of all types", s.iotdb})
	if !s.caps.OneConnection {
		parts = append(parts, Part{"several writers", "three workers load at once", load(func(t T) example { return s.cpuOnly(t, 0) }, 3)})
	}
	parts = append(parts,
		Part{"one row", "a dataset of one row", cpu(1)},
		Part{"no row", "a dataset without rows", cpu(0)},
		Part{"hostile values", "NULLs, the largest and smallest numbers, early times, tags with quotes and other alphabets", always(s.hostile)},
		Part{"ragged rows", "series that lack fields", always(s.raggedExample)},
		Part{"every type", "fields of every type at the bounds of its values", always(s.types)},
		Part{"free texts", "texts that something may interpret as syntax, up to the longest one", s.Texts},
		Part{"census", "a wrong value of any field, a wrong time and a missing series are found", s.census},
		Part{"rows that were sent twice", "duplicates do not hide lost rows", s.twice},
		Part{"an empty table", "a table without rows beside others", load(s.emptyTable, 1)},
		Part{"floats that are not numbers", "zeros of both signs, infinities and NaN", always(s.specialFloats)},
	)
	if s.driver.UserServer == nil || s.caps.MakesColumns { // otherwise recordings may replace its server: see Grows
		parts = append(parts, Part{"columns that appear", "new tags and fields during a load are stored, or refused as the driver says", s.Grows})
	}
	if !s.recorded() { // see Joins; recordings do not include changes
		parts = append(parts,
			Part{"several processes", "processes that load side by side store the whole dataset", s.Joins},
			Part{"changes", "rows that are corrected, deleted or dropped are so for queries, and all others stay as they were", s.Changes})
	}
	parts = append(parts,
		Part{"texts of users", "a user's query text runs if it only reads, and is refused otherwise", s.userTexts},
		Part{"steps", "an open target has the steps that its driver lists", s.steps},
		Part{"mark", "the mark of a load is read back unchanged", s.mark},
		Part{"replace", "a second load replaces the first one", s.replace},
		Part{"acknowledged before it is written", "a load has settled only once its rows are visible", s.postpones},
		Part{"a table made again", "a table that another user made under tsmark's name is not dropped", s.remade},
		Part{"cancelled query", "a query whose context has ended ends with its error", s.cancelledQuery},
	)
	if !s.recorded() { // see Check
		parts = append(parts, Part{"check", "tsmark check succeeds and leaves nothing behind", s.Check})
	}
	parts = append(parts,
		Part{"materialize", "a continuous aggregate has every row and gives the same answers", s.materialize},
		Part{"meaning", "queries have the documented meaning, case by case", s.meaning},
		Part{"random queries", "random queries about random rows have the oracle's answers", s.Random},
	)
	if !s.recorded() { // recordings do not include it
		parts = append(parts, Part{"random metrics", "random PromQL about random counters has the oracle's answers", s.metrics},
			Part{"random ticks", "random queries about random trades and quotes have the oracle's answers", s.ticks})
	}
	return parts
}

// manySeries is the part about more series than a server lists in one answer.
func (s *Suite) manySeries() Part {
	return Part{"many series", "12,000 series are counted, distinguished, and answered completely", s.ManySeries}
}

// reads is the part about the rows that a query reads.
func (s *Suite) reads() Part {
	return Part{"read bytes", "the rows that a query reads, if the system reports them, cover its answer", s.readBytes}
}

// Regular runs the part of the suite with rows at multiples of an interval.
func (s *Suite) Regular(t T) {
	s.workloads(t, tsbs.CPUOnly(), tsbs.IoT())
	s.sub(t, "iotdb", func(t T) { s.iotdbRows(t, iotdbVariants()[0], 0) })
}

// Writes runs the part of the suite that tests whether rows arrive unchanged.
func (s *Suite) Writes(t T) {
	s.workloads(t, tsbs.CPUOnly(), tsbs.IoT())
	s.sub(t, "hostile values", func(t T) { s.loadAndQuery(t, s.hostile(), 1) })
	s.sub(t, "every type", func(t T) { s.loadAndQuery(t, s.types(), 1) })
	s.sub(t, "free texts", s.Texts)
	s.sub(t, "mark", s.mark)
}

// workloads loads and queries some of each.
func (s *Suite) workloads(t T, list ...workload.Workload) {
	for _, use := range list {
		s.sub(t, use.Name(), func(t T) { s.loadAndQuery(t, s.useCase(t, use, 0), 1) })
	}
}
