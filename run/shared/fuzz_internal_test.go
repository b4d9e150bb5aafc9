package shared

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/internal/boundtest"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/result/resulttest"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/workload"
)

// jobs are the jobs whose results have operations.
var jobs = []string{jobLoad, jobQueries, jobMixed, jobRest, jobCalibrate}

// randomResult returns a possible result of a job, with random figures.
func randomResult(job string, seed uint64) *shareResult {
	found := &shareResult{Done: 3}
	for i := range resulttest.Run(seed).Targets {
		for _, r := range resulttest.Run(seed).Targets[i].Repeats {
			switch {
			case r.Load != nil && (job == jobLoad || job == jobRest):
				found.Load = r.Load
			case r.Load != nil && r.Load.Mixed != nil && job == jobMixed:
				found.Mixed = r.Load.Mixed
			case len(r.Queries) > 0 && job == jobQueries:
				found.Queries = &r.Queries[0]
			}
		}
	}
	var text bytes.Buffer
	answers := []engine.Answered{{Place: 1, Rows: 2}}
	switch {
	case found.Queries != nil && record.WriteAnswers(&text, answers) == nil:
		found.Taken = text.Bytes()
	case found.Mixed != nil && writeJournal(&text, &engine.Journal{Types: []engine.AnsweredType{{Counted: answers}}}) == nil:
		found.Journal = text.Bytes()
	}
	return found
}

// logOf returns the log of some operations.
func logOf(f *testing.F, kind oplog.Kind) []byte {
	var file bytes.Buffer
	log, err := oplog.NewWriter(&file, oplog.Header{Start: time.Now()})
	if err != nil {
		f.Fatal(err)
	}
	r := log.Section(oplog.Cell{Kind: kind}).Recorder(0, time.Now())
	for n := range int64(3) {
		r.Record(oplog.Op{Sequence: n, Query: n, Duration: time.Millisecond, Rows: 1})
	}
	r.Close()
	if err := log.Close(); err != nil {
		f.Fatal(err)
	}
	return file.Bytes()
}

// FuzzResult: the coordinator refuses any result of an agent with one line or joins it, in bounded
// time and memory. Some of the random figures and some bytes of the log are damaged; a text that is
// not empty is used unchanged.
func FuzzResult(f *testing.F) {
	logs := [][]byte{logOf(f, oplog.Load), logOf(f, oplog.Query)}
	for job := range jobs {
		for changes := range 4 {
			f.Add(uint8(job), uint64(changes), uint8(changes), uint16(0), []byte(nil))
		}
	}
	f.Add(uint8(0), uint64(1), uint8(0), uint16(77), []byte("\x01\x00\x00\x00\x00\x00\x00\x80"))
	f.Fuzz(func(t *testing.T, job uint8, seed uint64, changes uint8, at uint16, text []byte) {
		name := jobs[int(job)%len(jobs)]
		figures, err := json.Marshal(randomResult(name, seed%16))
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(changes % 8) {
			if figures, err = resulttest.Damage(figures, seed+i); err != nil {
				t.Fatal(err)
			}
		}
		log := bytes.Clone(logs[0])
		if name == jobQueries {
			log = bytes.Clone(logs[1])
		}
		if at > 0 {
			log[int(at)%len(log)] ^= byte(changes | 1)
		}
		whole := binary.LittleEndian.AppendUint64(append(log, figures...), uint64(len(figures)))
		if len(text) > 0 {
			whole = text
		}
		kind := oplog.Load
		if name == jobQueries {
			kind = oplog.Query
		}
		p := &phase{
			team: &Team{Record: &record.Record{}}, start: time.Now(), ceiling: func(result.Calibration) float64 { return 1 },
			into: newJoined(oplog.Cell{Kind: kind, Workers: 4, Queries: 4}, 0, nil),
		}
		if name == jobMixed {
			p.into = append(p.into, newJoined(oplog.Cell{Kind: oplog.Query, Workers: 4, Queries: 4}, 0, nil)...)
		}
		boundtest.Hold(t, func() {
			if err := p.joinBytes(name, whole); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("several lines: %q", err)
			}
		})
	})
}

// joinBytes reads, checks and joins a result.
func (p *phase) joinBytes(job string, whole []byte) error {
	part := &result.Part{Agent: "a"}
	log, err := p.read(part, workload.Share{Count: 1}, job, bytes.NewReader(whole), int64(len(whole)), time.Second)
	if err != nil {
		return err
	}
	if err := p.join(part, workload.Share{Count: 1}, log, p.start); err != nil {
		return err
	}
	r := p.results[0]
	switch {
	case r.Load != nil:
		_, err = engine.JoinLoads(engine.LoadConfig{}, p.into[0].tally, []*result.Load{r.Load})
	case r.Mixed != nil:
		_, err = engine.JoinMixed(engine.MixedConfig{}, p.into[0].tally, []*tally.Tally{p.into[1].tally}, []*result.Mixed{r.Mixed})
	}
	return err
}
