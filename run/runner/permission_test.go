package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/shared"
)

// Whatever a coordinator sends, an agent does only the work that it was started for: it connects to
// no other host, reveals no secret and no file, runs no command and opens no database in its own
// process.
func TestHostileCoordinator(t *testing.T) {
	folder := t.TempDir()
	secretFile, rows := filepath.Join(folder, "secret"), filepath.Join(folder, "rows.csv")
	if err := os.WriteFile(secretFile, []byte("the agent's own"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rows, []byte("time,host,v\n1700000000,a,1.5\n1700000001,a,2.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var opened []driver.Options
	watched := func(k driver.Driver) driver.Driver {
		k.Open = func(_ context.Context, _ driver.Env, o driver.Options) (driver.DB, error) {
			opened = append(opened, maps.Clone(o))
			return driver.DB{}, errors.New("connected")
		}
		return k
	}
	c := catalogOf(null.Driver(), watched(postgres.Driver()), watched(griddb.Driver()), watched(sqlite.Driver()))
	crew := newCrew(t, 1, c)
	e := small(t, "cpu-only")
	e.Targets = nil
	e.Targets = append(e.Targets, small(t, "cpu-only").Targets[0])
	e.Targets[0].Driver, e.Targets[0].Options = "null", nil
	if _, err := execute(t, e, c, crew, plan.Steps{Load: true}); err != nil {
		t.Fatal(err)
	}
	var honest map[string]any
	if err := json.Unmarshal(crew.bodies[len(crew.bodies)-1], &honest); err != nil {
		t.Fatal(err)
	}
	c.Environ = []string{"TSMARK_X_PASSWORD=the agent's own", "TSMARK_DB_PASSWORD=of another"}
	agent := &shared.Agent{Catalog: c, Allow: allow.List{Targets: []string{"postgres@db1:5432"}}.Check}
	try := func(target string, change func(map[string]any)) error {
		opened = nil
		part := maps.Clone(honest)
		text := part["experiment"].(string)
		before, behind, _ := strings.Cut(text, "targets:\n")
		_, behind, _ = strings.Cut(behind, "\nload:")
		part["experiment"] = before + "targets:\n  - " + target + "\nload:" + behind
		if change != nil {
			change(part)
		}
		body, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		return agent.Do(t.Context(), body, nil)
	}
	// Permitted work is done, with the agent's own password.
	if err := try("{name: x, driver: postgres, options: {host: db1}}", nil); err == nil || !strings.Contains(err.Error(), "connected") || len(opened) != 1 || opened[0]["password"] != "the agent's own" {
		t.Fatalf("%v, %v", err, opened)
	}
	set := func(key string, value any) func(map[string]any) {
		return func(part map[string]any) { part[key] = value }
	}
	inSpec := func(files string) func(map[string]any) {
		return func(part map[string]any) {
			spec := maps.Clone(part["spec"].(map[string]any))
			spec["name"], spec["settings"] = "own", map[string]any{"own.files": files}
			part["spec"] = spec
		}
	}
	inWorkload := func(files string) func(map[string]any) {
		return func(part map[string]any) {
			part["experiment"] = strings.Replace(part["experiment"].(string), "name: cpu-only", fmt.Sprintf("name: own\n  own: {files: %s}", files), 1)
		}
	}
	for _, c := range []struct {
		target string
		change func(map[string]any)
		want   string
	}{
		{"{name: x, driver: postgres, options: {host: evil}}", nil, "does not allow postgres@evil:5432; start it with --allow postgres@evil:5432"},
		{"{name: x, driver: postgres}", nil, "does not allow postgres@127.0.0.1:5432"},
		{"{name: x, driver: postgres, options: {host: db1, port: '5433'}}", nil, "does not allow postgres@db1:5433"},
		{"{name: x, driver: postgres, options: {host: 'db1,evil'}}", nil, "does not allow postgres@db1,evil;"},
		{"{name: x, driver: postgres, options: {host: /tmp}}", nil, "does not allow postgres@/tmp;"},
		{"{name: x, driver: griddb, options: {host: db1}}", nil, "does not allow griddb@db1:10001"},
		{"{name: x, driver: griddb, options: {host: db1, members: 'evil:1'}}", nil, "does not allow griddb@"},
		{"{name: x, driver: griddb, options: {provider: 'http://evil/x'}}", nil, "does not allow griddb@http://evil/x"},
		{"{name: x, driver: postgres, options: {host: db1, password: '@" + secretFile + "'}}", nil, "requests a file for the option password"},
		{"{name: x, driver: postgres, options: {host: db1, user: '@" + secretFile + "'}}", nil, "requests a file for the option user"},
		{"{name: x, driver: postgres, options: {host: db1, password: '***'}}", set("environ", []string{"TSMARK_X_PASSWORD=@" + secretFile}), "sets a variable that does not belong to a secret of the target"},
		{"{name: x, driver: postgres, options: {host: '***'}}", set("environ", []string{"TSMARK_X_HOST=evil"}), "does not allow postgres@evil:5432"},
		{"{name: x, driver: postgres, options: {host: db1}}", set("environ", []string{"HOME=/tmp"}), "sets a variable that does not belong to a secret of the target"},
		{"{name: x, driver: postgres, options: {host: db1, user: me}}", set("wanted", []string{"PATH"}), "requests a variable that does not belong to a secret of the target"},
		{"{name: x, driver: postgres, options: {host: '{servers}'}}", nil, "requests a file for the option host"},
		{"{name: x, driver: postgres, options: {host: db1}, start: 'touch x'}", nil, "a command that starts a server, which agents never use"},
		{"{name: x, driver: postgres, options: {host: db1}, exporter: 'http://evil/metrics'}", nil, "an exporter, which agents never use"},
		{"{name: x, driver: postgres, options: {host: db1}, metrics: 'http://evil/metrics'}", nil, "metrics of a server, which agents never use"},
		{"{name: x, driver: sqlite, options: {path: " + filepath.Join(folder, "x.sqlite") + "}}", nil, "open no databases of their own"},
		{"{name: x, driver: 'null'}", inSpec(rows), "does not allow reading " + rows + "; start it with --allow-files " + rows},
		{"{name: x, driver: 'null'}", inWorkload(rows), "does not allow reading " + rows},
		{"{name: x, driver: 'null'}\n  - {name: y, driver: postgres, options: {host: evil}}", nil, "a part is of one target, and this one has 2"},
		{"{name: x, driver: 'null'}", set("share", map[string]any{"Index": 3, "Count": 2}), "figures are impossible"},
		{"{name: x, driver: 'null'}", set("expected", []int64{1, 1 << 60}), "figures are impossible"},
		{"{name: x, driver: 'null'}", set("expected", []int64{1}), "figures are impossible"},
	} {
		err := try(c.target, c.change)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(opened) > 0 || strings.Contains(err.Error(), "the agent's own") {
			t.Errorf("%s: %v, opened %v\nwant %s", c.target, err, opened, c.want)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
	// Files permitted at its start are read.
	agent.Allow = allow.List{Files: []string{folder}}.Check
	if err := try("{name: x, driver: 'null'}", inSpec(rows)); err == nil || strings.Contains(err.Error(), "does not allow") {
		t.Errorf("%v", err)
	}
}
