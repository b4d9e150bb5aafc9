package influxdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// What a database consists of, before the name.
const (
	measurement = "measurement "
	policy      = "retention policy "
	continuous  = "continuous query "
)

// InspectSchema implements session.Bridged.
func (d *database) InspectSchema(ctx context.Context, schema *series.Schema) error {
	_, err := d.ask(ctx, "SHOW USERS") // for which a user needs what a load needs
	if err != nil {
		err = fmt.Errorf("a load needs a user with all privileges: %w", err)
	}
	if err == nil && schema != nil {
		_, err = d.replaceable(ctx, schema)
	}
	if err != nil {
		return fmt.Errorf("looking at %s: %w", d.where(), err)
	}
	return nil
}

// replaceable reports whether there is a database of tsmark's, which may be
// dropped as a whole for one of the schema. Else there is none, or an empty one.
// The error wraps driver.ErrExisting where there is something of somebody else's.
func (d *database) replaceable(ctx context.Context, schema *series.Schema) (marked bool, err error) {
	if err := checkSchema(schema); err != nil {
		return false, err
	}
	s, err := d.readStamp(ctx)
	if errors.Is(err, session.ErrNoMark) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	foreign, err := d.beside(ctx, &s)
	if err == nil && len(foreign) > 0 {
		err = fmt.Errorf("%w: %s beside what tsmark made; drop that, or give another database", driver.ErrExisting, some(foreign))
	}
	return true, err
}

// Foreign implements session.BridgedClearer: in a marked database, which goes as a
// whole, all that tsmark did not make; elsewhere the measurements.
func (d *database) Foreign(ctx context.Context, _ *series.Schema) ([]string, error) {
	foreign, err := d.foreign(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", d.where(), err)
	}
	return foreign, nil
}

func (d *database) foreign(ctx context.Context) ([]string, error) {
	s, err := d.readStamp(ctx)
	switch {
	case errors.Is(err, session.ErrNoMark):
		return nil, nil
	case errors.Is(err, driver.ErrExisting):
		return d.measurements(ctx)
	case err != nil:
		return nil, err
	}
	return d.beside(ctx, &s)
}

// Clear implements session.BridgedClearer.
func (d *database) Clear(ctx context.Context, _ *series.Schema, named []string) error {
	foreign, err := d.foreign(ctx)
	for _, object := range foreign {
		if err != nil || !slices.Contains(named, object) {
			continue
		}
		if name, ok := strings.CutPrefix(object, measurement); ok {
			err = d.change(ctx, "DROP MEASUREMENT "+ident(name))
		} else if name, ok := strings.CutPrefix(object, policy); ok {
			err = d.change(ctx, fmt.Sprintf("DROP RETENTION POLICY %s ON %s", ident(name), ident(d.settings.database)))
		} else if name, ok := strings.CutPrefix(object, continuous); ok {
			err = d.change(ctx, fmt.Sprintf("DROP CONTINUOUS QUERY %s ON %s", ident(name), ident(d.settings.database)))
		}
	}
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.where(), err)
	}
	return nil
}

// beside lists what a marked database holds that tsmark did not make: continuous
// queries, retention policies, and measurements, among them those of a name of
// tsmark's that have other tags or fields.
func (d *database) beside(ctx context.Context, s *stamp) ([]string, error) {
	foreign, err := d.continuousQueries(ctx)
	if err != nil {
		return nil, err
	}
	policies, err := d.policies(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range policies {
		if !s.Owns(p) {
			foreign = append(foreign, p.Name)
		}
	}
	measurements, err := d.measurements(ctx)
	for _, m := range measurements {
		name := strings.TrimPrefix(m, measurement)
		if err != nil || name == markMeasurement {
			continue
		}
		own := s.Owns(driver.Object{Name: m})
		if allowed := s.Columns[name]; own && allowed != nil {
			own, err = d.within(ctx, name, policies, allowed)
		}
		if !own {
			foreign = append(foreign, m)
		}
	}
	return foreign, err
}

// within reports whether a measurement has no other tags and fields than those
// allowed. Fields are known by retention policy.
func (d *database) within(ctx context.Context, name string, policies []driver.Object, allowed []string) (bool, error) {
	on := " ON " + ident(d.settings.database) + " FROM "
	rows, err := d.ask(ctx, "SHOW TAG KEYS"+on+ident(name))
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if !slices.Contains(allowed, "tag "+row[0].String()) {
			return false, nil
		}
	}
	for _, p := range policies {
		rows, err := d.ask(ctx, "SHOW FIELD KEYS"+on+ident(strings.TrimPrefix(p.Name, policy))+"."+ident(name))
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if !slices.Contains(allowed, row[1].String()+" "+row[0].String()) {
				return false, nil
			}
		}
	}
	return true, nil
}

// columnsOf are the tags of a table's measurement, and its fields with their
// types.
func columnsOf(t *series.Table) []string {
	kinds := types()
	columns := []string{kinds[series.Bool].As + " " + nullField} // of rows without a value
	for i := range t.Tags {
		if tag := &t.Tags[i]; tag.Numeric() {
			columns = append(columns, kinds[series.Float].As+" "+tag.Key)
		} else {
			columns = append(columns, "tag "+tag.Key)
		}
	}
	for _, f := range t.Fields {
		columns = append(columns, kinds[f.Type].As+" "+f.Name)
	}
	return columns
}

// measurements lists the database's.
func (d *database) measurements(ctx context.Context) ([]string, error) {
	rows, err := d.ask(ctx, "SHOW MEASUREMENTS")
	var names []string
	for _, row := range rows {
		names = append(names, measurement+row[0].String())
	}
	return names, err
}

// policies lists the retention policies of the database, with what each does as
// its identity. There are none where there is no database.
func (d *database) policies(ctx context.Context) ([]driver.Object, error) {
	there, err := d.exists(ctx)
	if err != nil || !there {
		return nil, err
	}
	rows, err := d.ask(ctx, "SHOW RETENTION POLICIES ON "+ident(d.settings.database))
	var list []driver.Object
	for _, row := range rows {
		const told = 5 // name, duration, duration of shard groups, copies, whether it is the default; newer versions add limits
		if len(row) < told {
			return nil, fmt.Errorf("a list of retention policies has %d columns; is this InfluxDB?", len(row))
		}
		var does []string
		for _, v := range row[1:told] {
			does = append(does, text(v.String()))
		}
		list = append(list, driver.Object{Name: policy + row[0].String(), Identity: strings.Join(does, " ")})
	}
	return list, err
}

// plain is the retention policy that InfluxDB gives to each new database. Nothing
// is lost with it.
var plain = driver.Object{Name: policy + "autogen", Identity: "'0s' '168h0m0s' '1' '1'"}

// continuousQueries lists those of the database.
func (d *database) continuousQueries(ctx context.Context) ([]string, error) {
	rows, err := d.ask(ctx, "SHOW CONTINUOUS QUERIES") // of all databases
	var names []string
	for _, row := range rows {
		// CREATE CONTINUOUS QUERY name ON database BEGIN … END
		head, _, _ := strings.Cut(row[len(row)-1].String(), " BEGIN")
		for _, name := range []string{d.settings.database, ident(d.settings.database)} {
			if strings.Contains(head+" ", " ON "+name+" ") {
				names = append(names, continuous+row[0].String())
			}
		}
	}
	return names, err
}

// some lists the first names.
func some(present []string) string {
	const shown = 3
	text := strings.Join(present[:min(len(present), shown)], ", ")
	if more := len(present) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
