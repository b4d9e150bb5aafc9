package cli

import (
	"context"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// witnessed is a database whose first measured query notes how it was reached.
type witnessed struct {
	driver.Required
	once *sync.Once
	path *[]string
}

func (w *witnessed) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := w.Required.NewQuerier(ctx, worker)
	return &witnessedQuerier{q, w}, err
}

type witnessedQuerier struct {
	driver.Querier
	of *witnessed
}

func (q *witnessedQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	stacks := make([]byte, 1<<22)
	if path := pathOf(string(stacks[:runtime.Stack(stacks, true)])); slices.Contains(path, "engine.(*clock).run") {
		q.of.once.Do(func() { *q.of.path = path })
	}
	return q.Querier.Do(ctx, r, sink)
}

var (
	closures  = regexp.MustCompile(`(\.func\d+|\.\d+|\.gowrap\d+|-range\d+|\.deferwrap\d+)+$`)
	createdBy = regexp.MustCompile(`^created by .* in (goroutine \d+)$`)
)

// pathOf returns tsmark's functions that lead to the first goroutine of some stacks, from
// tsmark run to the call of a querier: a function literal counts as the function that has it.
func pathOf(stacks string) []string {
	goroutines := make(map[string][]string)
	all := strings.Split(stacks, "\n\n")
	for _, g := range all {
		name, _, _ := strings.Cut(g, " [")
		goroutines[name] = strings.Split(g, "\n")
	}
	name, _, _ := strings.Cut(all[0], " [")
	var path []string
	for name != "" {
		lines := goroutines[name]
		name = ""
		for _, line := range lines {
			if m := createdBy.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
			function, ours := strings.CutPrefix(line, "github.com/tsmark/tsmark/")
			if arguments := strings.LastIndex(function, "("); ours && arguments > 0 {
				function = closures.ReplaceAllString(function[:arguments], "")
				function = function[strings.LastIndex(function, "/")+1:]
				path = slices.Insert(path, 0, function)
			}
		}
	}
	if first := slices.Index(path, "run.(*Executor).runCommand"); first >= 0 {
		path = path[first:]
	}
	if last := slices.Index(path, "engine.(*clock).run"); last >= 0 {
		path = path[:last+1] // the rest is the limit of the call, and the driver
	}
	var distinct []string
	for _, function := range path {
		if !slices.Contains(distinct, function) {
			distinct = append(distinct, function)
		}
	}
	return distinct
}

// The package comment of runner lists the functions from tsmark run to q.Do: ten at most.
func TestPathToQuery(t *testing.T) {
	source, err := os.ReadFile("../run/runner/runner.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(source)) {
		if entry, ok := strings.CutPrefix(line, "//\t"); ok {
			listed = append(listed, strings.Fields(entry)[0])
		}
	}
	var path []string
	var once sync.Once
	d := sqlite.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		if err == nil {
			db.Required = &witnessed{db.Required, &once, &path}
		}
		return db, err
	}
	args := []string{"tsmark", "run", "--results", t.TempDir(), "--target", "sqlite", "--scale", "2", "--timestamp-end", "2016-01-01T01:00:00Z", "--query-type", "lastpoint", "--queries", "10", "--repeats", "1"}
	if code := execute(t.Context(), args, io.Discard, io.Discard, testCatalog(tsbs.Workloads(), []driver.Driver{d})); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	if len(listed) > 10 || !slices.Equal(path, listed) {
		t.Errorf("the path from tsmark run to q.Do is\n%s\nand listed is\n%s", strings.Join(path, "\n"), strings.Join(listed, "\n"))
	}
}
