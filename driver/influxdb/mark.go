package influxdb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// markMeasurement holds the mark, in the retention policy of the same name,
// whose shards no question looks into.
const markMeasurement = "tsmark_mark"

// stamp is what the mark's only point holds, as JSON. Its tables are measurements
// and retention policies, each with what it is before its name.
type stamp struct {
	session.Stamp
	// Columns are the tags and fields that each measurement may have. A
	// measurement has those alone that something was written to.
	Columns map[string][]string `json:"columns,omitempty"`
	// Measurements are the names by which an older tsmark knew its own.
	Measurements []string `json:"measurements,omitempty"`
}

// ReadMark implements driver.DB.
func (d *database) ReadMark(ctx context.Context) (session.Mark, error) {
	s, err := d.readStamp(ctx)
	if err != nil {
		return session.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return s.Mark, nil
}

// WriteMark implements driver.DB.
func (d *database) WriteMark(ctx context.Context, m session.Mark) error {
	s, err := d.readStamp(ctx)
	if err == nil {
		s.Mark = m
		err = d.writeStamp(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// Prepare implements driver.DB. A marked database that holds nothing else is
// dropped as a whole; one that is empty is used as it is.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m session.Mark) error {
	if err := d.prepare(ctx, schema, m); err != nil {
		return fmt.Errorf("preparing %s: %w", d.where(), err)
	}
	return nil
}

func (d *database) prepare(ctx context.Context, schema *series.Schema, m session.Mark) error {
	marked, err := d.replaceable(ctx, schema)
	if err != nil {
		return err
	}
	if marked {
		if err := d.change(ctx, "DROP DATABASE "+ident(d.settings.database)); err != nil {
			return err
		}
	}
	before, err := d.policies(ctx)
	if err != nil {
		return err
	}
	if err := d.change(ctx, d.creation()...); err != nil {
		return err
	}
	after, err := d.policies(ctx)
	if err != nil {
		return err
	}
	s := stamp{Stamp: session.Stamp{Mark: m, Tables: []string{}}, Columns: make(map[string][]string)}
	for _, p := range after {
		// Those of an empty database that somebody else made are that somebody's.
		if theirs := slices.ContainsFunc(before, func(o driver.Object) bool {
			return o.Name == p.Name && (o.Name != plain.Name || o.Identity != plain.Identity)
		}); !theirs {
			s.Tables = append(s.Tables, p.Name)
		}
	}
	s.Identify(after)
	for _, t := range schema.Tables {
		s.Tables = append(s.Tables, measurement+t.Name)
		s.Columns[t.Name] = columnsOf(t)
	}
	if err := d.writeStamp(ctx, s); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.schema, d.encoder = schema, lines(d.settings.unit).New(schema)
	return nil
}

// creation returns the statements that make the database. One that is there
// already they leave as it is, but for what the options say.
func (d *database) creation() []string {
	s, name := d.settings, ident(d.settings.database)
	shard := ""
	if s.shard != "" {
		shard = " SHARD DURATION " + s.shard
	}
	statements := []string{"CREATE DATABASE " + name}
	switch {
	case s.retention != "":
		statements = append(statements, fmt.Sprintf("CREATE RETENTION POLICY %s ON %s DURATION INF REPLICATION 1%s", ident(s.retention), name, shard))
	case shard != "":
		statements = append(statements, fmt.Sprintf("ALTER RETENTION POLICY autogen ON %s%s", name, shard))
	}
	return append(statements, fmt.Sprintf("CREATE RETENTION POLICY %s ON %s DURATION INF REPLICATION 1", markMeasurement, name))
}

// readStamp returns what the mark holds. Where it is not there, or is none of
// tsmark's, the error names the measurements that are.
func (d *database) readStamp(ctx context.Context) (stamp, error) {
	there, err := d.exists(ctx)
	if err == nil && !there {
		err = fmt.Errorf("%s %w: it is not there", d.where(), session.ErrNoMark)
	}
	if err != nil {
		return stamp{}, err
	}
	present, err := d.measurements(ctx)
	switch {
	case err != nil:
		return stamp{}, err
	case len(present) == 0:
		return stamp{}, fmt.Errorf("%s %w", d.where(), session.ErrNoMark)
	case !slices.Contains(present, measurement+markMeasurement):
		return stamp{}, fmt.Errorf("%s %w: %s; give another database", d.where(), driver.ErrExisting, some(present))
	}
	var s stamp
	rows, err := d.ask(ctx, fmt.Sprintf("SELECT content FROM %s.%[1]s", markMeasurement))
	if err != nil {
		return stamp{}, err
	}
	if len(rows) == 1 {
		err = json.Unmarshal([]byte(rows[0][1].String()), &s)
	} else {
		err = fmt.Errorf("%d points", len(rows))
	}
	if err != nil {
		return stamp{}, fmt.Errorf("%s %w: its measurement %s is not as tsmark writes it (%w); give another database",
			d.where(), driver.ErrExisting, markMeasurement, err)
	}
	if len(s.Tables) == 0 { // an older tsmark's
		s.Tables = []string{policy + markMeasurement, policy + "autogen", policy + d.settings.retention}
		for _, name := range s.Measurements {
			s.Tables = append(s.Tables, measurement+name)
		}
	}
	return s, nil
}

// writeStamp writes the mark's point over the one that was there.
func (d *database) writeStamp(ctx context.Context, s stamp) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	value := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(content))
	to, err := d.settings.writes(markMeasurement).Open()
	if err != nil {
		return err
	}
	defer to.Close()
	_, err = to.Send(ctx, [][]byte{[]byte(markMeasurement + ` content="` + value + `" 0`)})
	return err
}
