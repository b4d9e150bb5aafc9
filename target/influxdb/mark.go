package influxdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// markMeasurement holds the mark, in the retention policy of the same name,
// whose shards no question looks into.
const markMeasurement = "tsmark_mark"

// stamp is what the mark's only point holds, as JSON.
type stamp struct {
	Mark         target.Mark `json:"mark"`
	Measurements []string    `json:"measurements"` // that tsmark makes
}

// ReadMark implements target.Target.
func (d *database) ReadMark(ctx context.Context) (target.Mark, error) {
	s, _, err := d.readStamp(ctx)
	if err != nil {
		return target.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return s.Mark, nil
}

// WriteMark implements target.Target.
func (d *database) WriteMark(ctx context.Context, m target.Mark) error {
	s, _, err := d.readStamp(ctx)
	if err == nil {
		s.Mark = m
		err = d.writeStamp(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// Prepare implements target.Target. A marked database that holds nothing else is
// dropped as a whole; one that is empty is used as it is.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m target.Mark) error {
	if err := d.prepare(ctx, schema, m); err != nil {
		return fmt.Errorf("preparing %s: %w", d.where(), err)
	}
	return nil
}

func (d *database) prepare(ctx context.Context, schema *series.Schema, m target.Mark) error {
	if err := checkSchema(schema); err != nil {
		return err
	}
	old, foreign, err := d.readStamp(ctx)
	switch {
	case err == nil && len(foreign) > 0:
		return fmt.Errorf("%w: %s beside what tsmark made; drop that, or give another database", target.ErrForeign, some(foreign))
	case err == nil && old.Measurements != nil:
		if err := d.change(ctx, "DROP DATABASE "+ident(d.settings.database)); err != nil {
			return err
		}
	case !errors.Is(err, target.ErrNoMark):
		return err
	}
	if err := d.change(ctx, d.creation()...); err != nil {
		return err
	}
	s := stamp{Mark: m, Measurements: []string{}}
	for _, t := range schema.Tables {
		s.Measurements = append(s.Measurements, t.Name)
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

// readStamp returns what the mark holds, and the measurements that the mark does
// not name.
func (d *database) readStamp(ctx context.Context) (stamp, []string, error) {
	there, err := d.exists(ctx)
	if err == nil && !there {
		err = fmt.Errorf("%s %w: it is not there", d.where(), target.ErrNoMark)
	}
	if err != nil {
		return stamp{}, nil, err
	}
	rows, err := d.ask(ctx, "SHOW MEASUREMENTS")
	if err != nil {
		return stamp{}, nil, err
	}
	var present []string
	for _, row := range rows {
		present = append(present, row[0].String())
	}
	switch {
	case len(present) == 0:
		return stamp{}, nil, fmt.Errorf("%s %w", d.where(), target.ErrNoMark)
	case !slices.Contains(present, markMeasurement):
		return stamp{}, present, fmt.Errorf("%s %w: %s; give another database", d.where(), target.ErrForeign, some(present))
	}
	var s stamp
	rows, err = d.ask(ctx, fmt.Sprintf("SELECT content FROM %s.%[1]s", markMeasurement))
	if err != nil {
		return stamp{}, present, err
	}
	if len(rows) == 1 {
		err = json.Unmarshal([]byte(rows[0][1].String()), &s)
	} else {
		err = fmt.Errorf("%d points", len(rows))
	}
	if err != nil {
		return stamp{}, present, fmt.Errorf("%s %w: its measurement %s is not as tsmark writes it (%w); give another database",
			d.where(), target.ErrForeign, markMeasurement, err)
	}
	foreign := slices.DeleteFunc(present, func(name string) bool { return name == markMeasurement || slices.Contains(s.Measurements, name) })
	return s, foreign, nil
}

// writeStamp writes the mark's point over the one that was there.
func (d *database) writeStamp(ctx context.Context, s stamp) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	value := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(content))
	d.mu.Lock()
	defer d.mu.Unlock()
	client := d.admin.client
	ctx, cancel := client.Bounded(ctx)
	defer cancel()
	point := [][]byte{[]byte(markMeasurement + ` content="` + value + `" 0`)}
	response, _, err := client.Post(ctx, "/write", url.Values{"db": {d.settings.database}, "rp": {markMeasurement}}, nil, point)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		return refusal(response)
	}
	return nil
}

// Foreign implements target.Clearer: the measurements that tsmark did not make.
func (d *database) Foreign(ctx context.Context, _ *series.Schema) ([]string, error) {
	_, foreign, err := d.readStamp(ctx)
	if errors.Is(err, target.ErrNoMark) || errors.Is(err, target.ErrForeign) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", d.where(), err)
	}
	return kinds(foreign), nil
}

// Clear implements target.Clearer.
func (d *database) Clear(ctx context.Context, _ *series.Schema, named []string) error {
	_, foreign, err := d.readStamp(ctx)
	if errors.Is(err, target.ErrNoMark) || errors.Is(err, target.ErrForeign) {
		err = nil
	}
	for i, name := range kinds(foreign) {
		if err == nil && slices.Contains(named, name) {
			err = d.change(ctx, "DROP MEASUREMENT "+ident(foreign[i]))
		}
	}
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.where(), err)
	}
	return nil
}

// kinds names measurements as what they are.
func kinds(measurements []string) []string {
	var names []string
	for _, m := range measurements {
		names = append(names, "measurement "+m)
	}
	return names
}

// some lists the first names.
func some(present []string) string {
	const shown = 3
	text := "measurements " + strings.Join(present[:min(len(present), shown)], ", ")
	if more := len(present) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
