//go:build netns && linux

package cassandra

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/netlab"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/servers"
	"github.com/tsmark/tsmark/session"
)

// Workers write and read before a fault, during it and after its end. Each has a writer and a querier, which
// share a session.
const (
	clusterNodes = 3
	timeBefore   = 5 * time.Second
	timeOfFault  = 30 * time.Second
	timeAfter    = 20 * time.Second
	workers      = 4
	seriesEach   = 8                     // of a worker, so that its batches go to all nodes
	batchRows    = 10                    // of one series
	interval     = 50 * time.Millisecond // between the starts of a writer's or querier's operations
	clientLimit  = 12 * time.Second      // of an operation; the server's limits are shorter
	patience     = 2 * time.Minute       // until an acknowledged row that is missing is lost
)

// shippedLimits are the server's limits of requests as shipped, which servers/cassandra raises.
const shippedLimits = "read_request_timeout=5s\nrange_request_timeout=10s\nwrite_request_timeout=2s\nrequest_timeout=10s\nnative_transport_timeout=12s\n"

// cluster is nodes of Cassandra, node n on host 1+n of a lab. Clients are on host 0.
type cluster struct {
	lab   *netlab.Lab
	nodes []*fault.Server
	port  string
}

// startCluster starts the nodes, one after the other.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	script := filepath.Join(conformance.ModuleRoot(t), "servers", "cassandra")
	if out, err := exec.CommandContext(t.Context(), script, "install").CombinedOutput(); err != nil {
		t.Fatalf("%s install: %v: %s", script, err, out)
	}
	port := fault.FreePort(t)
	c := &cluster{lab: netlab.New(t, clusterNodes, 1), port: strconv.Itoa(port)}
	var addresses []string
	for n := range clusterNodes {
		addresses = append(addresses, c.lab.Address(1+n))
	}
	for n := range clusterNodes {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "settings"), []byte(shippedLimits), 0o600); err != nil {
			t.Fatal(err)
		}
		env := []string{"TSMARK_NODES=" + strings.Join(addresses, " "), "TSMARK_NODE=" + strconv.Itoa(1+n)}
		run := c.lab.Command(t.Context(), 1+n, script, "exec", dir, c.port)
		c.nodes = append(c.nodes, fault.NewServer(t, port, process.Command{
			Path: run.Path, Args: run.Args[1:], Env: append(servers.Environment(), env...),
			Log: filepath.Join(t.TempDir(), "server.log"), Within: 5 * time.Minute,
			Ready: func(ctx context.Context) error {
				cmd := exec.CommandContext(ctx, script, "ready", dir, c.port)
				cmd.Env = append(os.Environ(), env...)
				return cmd.Run()
			},
		}))
	}
	return c
}

// options are a target's in a keyspace, at a level of consistency. Its host is the node that the faults hit: the
// driver goes on at another.
func (c *cluster) options(keyspace, consistency string) map[string]string {
	return map[string]string{
		connection.Host: c.lab.Address(clusterNodes), connection.Port: c.port, connection.TLS: "off", connection.Database: keyspace,
		connection.Timeout: clientLimit.String(), optionReplication: strconv.Itoa(clusterNodes), optionConsistency: consistency, optionQuiet: "0s",
	}
}

func (c *cluster) open(t *testing.T, keyspace, consistency string) *database {
	t.Helper()
	return conformance.OpenAt(t, Driver(), c.options(keyspace, consistency)).Required.(*database)
}

// awaitWhole waits until every node regards all nodes as up: each coordinates a write that all must take.
func (c *cluster) awaitWhole(t *testing.T) {
	t.Helper()
	d := c.open(t, "whole", "all")
	if err := d.exec(t.Context(), "CREATE KEYSPACE IF NOT EXISTS whole WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
		"CREATE TABLE IF NOT EXISTS whole.probe (id int PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	for taken, deadline := 0, time.Now().Add(patience); taken < 3*clusterNodes; {
		err := d.exec(t.Context(), "INSERT INTO whole.probe (id) VALUES (1)")
		if taken++; err != nil {
			if taken = 0; time.Now().After(deadline) {
				t.Fatalf("the cluster is not whole: %v", err)
			}
			time.Sleep(time.Second)
		}
	}
}

// clusterFault is a fault of the last node: the other nodes do not reach it, or neither do clients, or it is killed.
type clusterFault struct {
	name   string
	begin  func(*cluster) error
	end    func(context.Context, *cluster) error
	severs bool // clients reach all nodes, and the nodes do not reach each other
}

var clusterFaults = []clusterFault{
	{"partition", func(c *cluster) error {
		for host := 1; host < clusterNodes; host++ {
			c.lab.Cut(host, clusterNodes)
		}
		return nil
	}, func(_ context.Context, c *cluster) error {
		for host := 1; host < clusterNodes; host++ {
			c.lab.Join(host, clusterNodes)
		}
		return nil
	}, true},
	{"isolation", func(c *cluster) error { c.lab.Isolate(clusterNodes); return nil },
		func(_ context.Context, c *cluster) error { c.lab.Reconnect(clusterNodes); return nil }, false},
	{"kill-node", func(c *cluster) error { return c.nodes[clusterNodes-1].Kill() },
		func(ctx context.Context, c *cluster) error { return c.nodes[clusterNodes-1].Start(ctx) }, false},
}

// clientWorker is an application that writes batches and reads the latest acknowledged one.
type clientWorker struct {
	number uint32
	db     *database
	schema *series.Schema

	mu         sync.Mutex // guards the following fields
	acked      []ackedBatch
	operations []operation
	errors     map[string]int
}

// ackedBatch is an acknowledged batch. Its number is among its worker's.
type ackedBatch struct {
	series uint32
	number int64
	at     time.Time
}

// operation is an attempt to write a batch or to read an acknowledged one.
type operation struct {
	query, succeeded, stale bool // stale: the answer lacks acknowledged rows
	begin, end              time.Time
}

const firstRow = int64(1_451_606_400_000_000_000) // 2016-01-01, in ns since 1970

// rowTime is the time of a row, whose number is its field n.
func rowTime(n int64) int64 { return firstRow + n*int64(10*time.Millisecond) }

// every does an operation at each interval, or later if the one before takes longer, until ctx ends. Limit is that
// of an operation.
func every(ctx context.Context, limit time.Duration, do func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		do(bounded)
		cancel()
		<-tick.C
	}
}

func (w *clientWorker) note(o operation, err error, acked ...ackedBatch) {
	o.end, o.succeeded = time.Now(), err == nil
	w.mu.Lock()
	defer w.mu.Unlock()
	w.operations, w.acked = append(w.operations, o), append(w.acked, acked...)
	if err != nil {
		w.errors[err.Error()]++
	}
}

// write writes batches until ctx ends. A batch that fails is not sent again.
func (w *clientWorker) write(ctx context.Context) {
	var writer driver.Writer
	var b series.Batch
	number := int64(0)
	every(ctx, 2*clientLimit, func(ctx context.Context) { // for a new writer, too
		batch := ackedBatch{series: w.number*seriesEach + uint32(number%seriesEach), number: number}
		number++
		b.Reset()
		run := b.Add(w.schema.Tables[0])
		run.Grow(batchRows)
		for i := range batchRows {
			n := batch.number*batchRows + int64(i)
			run.Series[i], run.Times[i], run.Columns[0].Ints[i] = batch.series, rowTime(n), n
		}
		o := operation{begin: time.Now()}
		var err error
		if writer == nil {
			writer, err = w.db.NewWriter(ctx, int(w.number))
		}
		if err == nil {
			_, err = writer.Write(ctx, &b)
		}
		if err != nil {
			writer = nil // the next batch has a new one
			w.note(o, err)
			return
		}
		batch.at = time.Now()
		w.note(o, nil, batch)
	})
}

// read reads the batch that was acknowledged last, again and again until ctx ends.
func (w *clientWorker) read(ctx context.Context, querier driver.Querier, options driver.Options) {
	every(ctx, clientLimit, func(ctx context.Context) {
		w.mu.Lock()
		if len(w.acked) == 0 {
			w.mu.Unlock()
			return
		}
		last := w.acked[len(w.acked)-1]
		w.mu.Unlock()
		request, err := render(&query.Query{
			Type: "batch", Table: w.schema.Tables[0].Name, Shape: query.Rows{Fields: []string{"n"}},
			Start: time.Unix(0, rowTime(last.number*batchRows)), End: time.Unix(0, rowTime((last.number+1)*batchRows)),
			In: &query.TagIn{Key: "hostname", Values: []string{fmt.Sprintf("host_%d", last.series)}},
		}, w.schema, options)
		var answer query.Answer
		o := operation{query: true, begin: time.Now()}
		if err == nil {
			_, err = querier.Do(ctx, request, &answer)
		}
		o.stale = err == nil && len(answer.Rows) < batchRows
		w.note(o, err)
	})
}

// storedRows are the numbers of rows by series, as all replicas of a level have them.
func storedRows(ctx context.Context, d *database, schema *series.Schema) (map[string]map[int64]bool, error) {
	request, err := render(&query.Query{Type: "all", Table: schema.Tables[0].Name, Shape: query.Rows{Fields: []string{"n"}, Tag: "hostname"}}, schema, d.options)
	if err != nil {
		return nil, err
	}
	querier, err := d.NewQuerier(ctx, 0)
	if err != nil {
		return nil, err
	}
	var answer query.Answer
	if _, err := querier.Do(ctx, request, &answer); err != nil {
		return nil, err
	}
	stored := map[string]map[int64]bool{}
	for _, row := range answer.Rows {
		host := string(row[1].Text)
		if stored[host] == nil {
			stored[host] = map[int64]bool{}
		}
		stored[host][row[2].Int] = true
	}
	return stored, nil
}

// missingRows counts acknowledged rows that are not stored.
func missingRows(acked []ackedBatch, stored map[string]map[int64]bool) (missing int) {
	for _, b := range acked {
		of := stored[fmt.Sprintf("host_%d", b.series)]
		for i := range batchRows {
			if !of[b.number*batchRows+int64(i)] {
				missing++
			}
		}
	}
	return missing
}

// awaitRows reads all rows every second until three reads in succession have all acknowledged rows, and
// returns the time of the first of these since begin. It gives up after patience, with -1 and the number of
// missing rows.
func awaitRows(ctx context.Context, d *database, schema *series.Schema, acked []ackedBatch, begin time.Time) (after time.Duration, missing int, err error) {
	for seen := 0; time.Since(begin) < patience; time.Sleep(time.Second) {
		read := time.Since(begin)
		var stored map[string]map[int64]bool
		if stored, err = storedRows(ctx, d, schema); err == nil {
			missing = missingRows(acked, stored)
		}
		switch {
		case err != nil || missing > 0:
			seen = 0
			continue
		case seen == 0:
			after = read
		}
		if seen++; seen == 3 {
			return after, 0, nil
		}
	}
	return -1, missing, err
}

// period is a part of a test.
type period struct {
	name     string
	from, to time.Time
}

// availability describes operations that began in a period: how many succeeded, and the longest time in which a
// client had no success.
func availability(clients []*clientWorker, queries bool, in period) (text string, succeeded, attempts, stale int) {
	longest := time.Duration(0)
	for _, w := range clients {
		ends := []time.Time{in.from, in.to}
		for _, o := range w.operations {
			if o.query != queries {
				continue
			}
			if o.succeeded && o.end.After(in.from) && o.end.Before(in.to) {
				ends = append(ends, o.end)
			}
			if o.begin.Before(in.from) || !o.begin.Before(in.to) {
				continue
			}
			if attempts++; o.succeeded {
				succeeded++
			}
			if o.stale {
				stale++
			}
		}
		slices.SortFunc(ends, time.Time.Compare)
		for i, end := range ends[1:] {
			longest = max(longest, end.Sub(ends[i]))
		}
	}
	return fmt.Sprintf("%d of %d | %.1f s", succeeded, attempts, longest.Seconds()), succeeded, attempts, stale
}

// Three nodes with all rows on each, while one of them is cut off from the others, and from clients, or killed
// and started again. No row that was acknowledged at QUORUM is missing from an answer at QUORUM, or lost; at
// ONE a partition shows in answers, which is the check that there was one. Run it with -v: it prints the table.
func TestCluster(t *testing.T) {
	c := startCluster(t)
	lines := []string{"| fault | level | period | writes that succeeded | longest time of a client without | queries that succeeded | longest time of a client without | stale answers |", "|---|---|---|--:|--:|--:|--:|--:|"}
	ends := []string{"| fault | level | acknowledged rows | until the fault had ended | until all rows were there | rows lost | rows stored without acknowledgement |", "|---|---|--:|--:|--:|--:|--:|"}
	for _, f := range clusterFaults {
		for _, consistency := range []string{"one", "quorum"} {
			t.Run(f.name+" "+consistency, func(t *testing.T) {
				table, end := c.measure(t, f, consistency)
				lines, ends = append(lines, table...), append(ends, end)
			})
		}
	}
	t.Logf("\n%s\n\n%s", strings.Join(lines, "\n"), strings.Join(ends, "\n"))
}

// measure has workers write and read while a fault begins and ends, and returns lines of the tables.
func (c *cluster) measure(t *testing.T, f clusterFault, consistency string) (lines []string, end string) {
	ctx := t.Context()
	c.awaitWhole(t)
	keyspace := strings.ReplaceAll(f.name, "-", "_") + "_" + consistency
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("n")}, Series: workers * seriesEach}
	all := c.open(t, keyspace, "all")
	if err := session.New(all.db()).Prepare(ctx, schema, session.Mark{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	finish := func() {
		stop()
		group.Wait()
	}
	defer finish()
	var clients []*clientWorker
	for n := range workers {
		w := &clientWorker{number: uint32(n), db: c.open(t, keyspace, consistency), schema: schema, errors: map[string]int{}}
		if err := w.db.Join(ctx, schema); err != nil {
			t.Fatal(err)
		}
		querier, err := w.db.NewQuerier(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, w)
		group.Go(func() { w.write(running) })
		group.Go(func() { w.read(running, querier, w.db.options) })
	}
	acknowledged := func() (acked []ackedBatch) {
		for _, w := range clients {
			w.mu.Lock()
			acked = append(acked, w.acked...)
			w.mu.Unlock()
		}
		return acked
	}
	begin := time.Now()
	time.Sleep(timeBefore)
	fails := time.Now()
	if err := f.begin(c); err != nil {
		t.Fatal(err)
	}
	time.Sleep(timeOfFault)
	ending := time.Now()
	before := acknowledged()
	if err := f.end(ctx, c); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	complete, missing, err := awaitRows(ctx, c.open(t, keyspace, consistency), schema, before, ended)
	if err != nil || missing > 0 {
		t.Errorf("%v after the fault %d of %d rows are missing at this level: %v", patience, missing, len(before)*batchRows, err)
	}
	time.Sleep(time.Until(ended.Add(timeAfter)))
	periods := []period{{"before", begin, fails}, {"fault", fails, ending}, {"after", ending, time.Now()}}
	finish()

	acked := acknowledged()
	_, lost, err := awaitRows(ctx, all, schema, acked, time.Now())
	if err != nil {
		t.Fatalf("reading all rows at ALL: %v", err)
	}
	census, err := all.Census(ctx, schema.Tables[0])
	if err != nil {
		t.Fatal(err)
	}
	extra := census.Rows - int64(len(acked)*batchRows-lost)
	if extra < 0 {
		t.Errorf("the census counts %d rows, and %d acknowledged rows were read", census.Rows, len(acked)*batchRows-lost)
	}
	failures := map[string]int{}
	for _, w := range clients {
		for text, n := range w.errors {
			failures[text] += n
		}
	}
	for _, text := range slices.Sorted(maps.Keys(failures)) {
		t.Logf("%d times: %s", failures[text], text)
	}
	for _, p := range periods {
		writes, written, attempts, _ := availability(clients, false, p)
		queries, answered, sent, stale := availability(clients, true, p)
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %d of %d |", f.name, strings.ToUpper(consistency), p.name, writes, queries, stale, answered))
		divided := f.severs && p.name == "fault"
		switch {
		case consistency == "quorum" && stale > 0:
			t.Errorf("%s: %d of %d answers at QUORUM miss rows that were acknowledged at QUORUM", p.name, stale, answered)
		case divided && consistency == "one" && stale == 0:
			t.Errorf("no answer at ONE is stale during a partition: the nodes reached each other")
		case divided && consistency == "quorum" && (written == 0 || written == attempts):
			t.Errorf("%d of %d writes at QUORUM succeed during a partition; the two nodes together can, and the third cannot", written, attempts)
		case !divided && (2*written < attempts || 2*answered < sent):
			t.Errorf("%s: %d of %d writes and %d of %d queries succeed: the driver does not go on at the other nodes", p.name, written, attempts, answered, sent)
		}
	}
	if consistency == "quorum" && lost > 0 {
		t.Errorf("%d rows that were acknowledged at QUORUM are lost", lost)
	}
	return lines, fmt.Sprintf("| %s | %s | %d | %.1f s | %.1f s | %d | %d |", f.name, strings.ToUpper(consistency), len(acked)*batchRows,
		ended.Sub(ending).Seconds(), complete.Seconds(), lost, extra)
}
