package influxdb2

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/series"
)

// The kinds of objects.
const (
	kindMeasurement = "measurement"
	kindBucket      = "bucket"
	kindDescription = "description"
)

// ours begins the description of a bucket that tsmark created; the note follows it.
const ours = "made by tsmark: "

// Objects implements driver.DB: measurements, and the bucket itself if tsmark did not create it, which
// is kept even if it is empty. A missing bucket has no objects.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	b, err := d.find(ctx)
	var objects []driver.Object
	if err == nil && b != nil {
		objects, err = d.objects(ctx, b)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the objects in %s: %w", d.location(), err)
	}
	return objects, nil
}

func (d *database) objects(ctx context.Context, b *bucket) ([]driver.Object, error) {
	objects := []driver.Object{{Kind: kindBucket, Name: b.Name, Data: true, InTheWay: true}}
	if strings.HasPrefix(b.Description, ours) {
		objects = []driver.Object{{Kind: kindDescription, Name: b.Name, Note: true}}
	}
	names, err := d.list(ctx, "measurements(bucket: "+text(d.settings.bucket)+", "+always+")")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		in := "(bucket: " + text(d.settings.bucket) + ", measurement: " + text(name) + ", " + always + ")"
		tags, err := d.list(ctx, "measurementTagKeys"+in)
		if err != nil {
			return nil, err
		}
		fields, err := d.list(ctx, "measurementFieldKeys"+in)
		if err != nil {
			return nil, err
		}
		var columns []string
		for _, key := range tags {
			if !strings.HasPrefix(key, "_") { // Flux's own
				columns = append(columns, "tag "+key)
			}
		}
		for _, field := range fields {
			columns = append(columns, "field "+field)
		}
		objects = append(objects, driver.Object{Kind: kindMeasurement, Name: name, Columns: columns, Data: true, InTheWay: true})
	}
	return objects, nil
}

// always are the parameters of functions that otherwise read only the last thirty days.
const always = "start: " + firstTime + ", stop: " + lastTime

// list returns the result of a function of Flux's package schema.
func (d *database) list(ctx context.Context, call string) ([]string, error) {
	rows, err := d.own.queryRows(ctx, flow{"import \"influxdata/influxdb/schema\"\n\nschema." + call}, valueColumn)
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = string(row[0].Text)
	}
	return names, err
}

// Plan implements driver.DB. A measurement has only the columns that were written.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	var objects []driver.Object
	for _, t := range schema.Tables {
		columns := []string{"field " + influx.NullField} // for rows without a value
		for i := range t.Tags {
			if tag := &t.Tags[i]; tag.Numeric() {
				columns = append(columns, "field "+tag.Key)
			} else {
				columns = append(columns, "tag "+tag.Key)
			}
		}
		for _, f := range t.Fields {
			columns = append(columns, "field "+f.Name)
		}
		objects = append(objects, driver.Object{Kind: kindMeasurement, Name: t.Name, Columns: columns})
	}
	return objects, nil
}

// Create implements driver.DB: measurements are created by their rows. The bucket exists, for the note.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	b, err := d.find(ctx)
	switch {
	case err == nil && b == nil:
		err = errors.New("there is no such bucket any more")
	case err == nil && d.settings.language == languageInfluxQL:
		err = d.mapToInfluxQL(ctx, b)
	}
	if err != nil {
		return fmt.Errorf("creating what %s needs: %w", d.location(), err)
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.Prepare(influx.Lines().New(schema), schema)
	return nil
}

// mapToInfluxQL makes InfluxQL find the bucket under its name, as the default retention policy of a database
// with that name.
func (d *database) mapToInfluxQL(ctx context.Context, b *bucket) error {
	var found struct {
		Content []struct {
			BucketID string `json:"bucketID"`
			Default  bool   `json:"default"`
			Virtual  bool   `json:"virtual"`
		} `json:"content"`
	}
	if err := d.api.Call(ctx, http.MethodGet, "/api/v2/dbrps", url.Values{"orgID": {b.OrgID}, "db": {b.Name}}, nil, &found); err != nil {
		return err
	}
	for _, m := range found.Content {
		switch {
		case m.Virtual:
		case m.BucketID != b.ID && m.Default:
			return fmt.Errorf("InfluxQL's database %s is mapped to another bucket; delete that mapping, or give another bucket", b.Name)
		case m.BucketID == b.ID:
			return nil
		}
	}
	return d.api.Call(ctx, http.MethodPost, "/api/v2/dbrps", nil, map[string]any{
		"orgID": b.OrgID, "bucketID": b.ID, "database": b.Name, "retention_policy": "autogen", "default": true,
	}, nil)
}

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.Extend(influx.Lines().New(schema), schema)
	return nil
}

// Drop implements driver.DB. If nothing but the note would be left in a bucket, it drops the bucket and
// creates it again with the note: otherwise the index would keep the old series.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	if err := d.drop(ctx, objects); err != nil {
		return fmt.Errorf("clearing %s: %w", d.location(), err)
	}
	return nil
}

func (d *database) drop(ctx context.Context, objects []driver.Object) error {
	b, err := d.find(ctx)
	if err != nil || b == nil {
		return err
	}
	present, err := d.objects(ctx, b)
	if err != nil {
		return err
	}
	named := func(o driver.Object) bool {
		return slices.ContainsFunc(objects, func(gone driver.Object) bool { return gone.Kind == o.Kind && gone.Name == o.Name })
	}
	stays := slices.DeleteFunc(present, func(o driver.Object) bool { return !o.Note && named(o) })
	if len(stays) == 0 || len(stays) == 1 && stays[0].Note {
		err := d.api.Call(ctx, http.MethodDelete, "/api/v2/buckets/"+b.ID, nil, nil, nil)
		if err == nil && len(stays) == 1 && !named(stays[0]) {
			err = d.make(ctx, b.OrgID, b.Description)
		}
		return err
	}
	for _, o := range objects {
		if o.Kind != kindMeasurement {
			return fmt.Errorf("%v goes with all that is in it, and something came meanwhile", o)
		}
		predicate := `_measurement="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(o.Name) + `"`
		err := d.api.Call(ctx, http.MethodPost, "/api/v2/delete", url.Values{"org": {d.settings.org}, "bucket": {b.Name}},
			map[string]string{"start": firstTime, "stop": lastTime, "predicate": predicate}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// make creates the bucket.
func (d *database) make(ctx context.Context, org, description string) error {
	return d.api.Call(ctx, http.MethodPost, "/api/v2/buckets", nil,
		bucket{OrgID: org, Name: d.settings.bucket, Description: description, RetentionRules: d.settings.rules()}, nil)
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	b, err := d.find(ctx)
	if err != nil || b == nil {
		return "", err
	}
	note, ok := strings.CutPrefix(b.Description, ours)
	if !ok {
		return "", fmt.Errorf("the description of %s is not tsmark's", d.location())
	}
	return note, nil
}

// SetNote implements driver.DB. It creates the bucket if it is missing, and does not change a bucket
// that tsmark did not create.
func (d *database) SetNote(ctx context.Context, note string) error {
	b, err := d.find(ctx)
	switch {
	case err != nil:
		return err
	case b == nil:
		ids, err := d.organisations(ctx)
		if err != nil {
			return err
		}
		return d.make(ctx, ids[d.settings.org], ours+note)
	case !strings.HasPrefix(b.Description, ours):
		return fmt.Errorf("tsmark did not make %s; give another bucket: %w", d.location(), driver.ErrExisting)
	}
	return d.api.Call(ctx, http.MethodPatch, "/api/v2/buckets/"+b.ID, nil, map[string]any{"description": ours + note}, nil)
}
