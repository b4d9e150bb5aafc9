package iotdbconfig

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/run/experiment"
)

// switches are the values of DB_SWITCH.
func switches() []string {
	list := []string{"DoubleIoTDB"}
	for _, version := range []string{"200", "130", "110", "100"} {
		for _, mode := range []string{"REST", "JDBC", "SESSION_BY_TABLET", "SESSION_BY_RECORD", "SESSION_BY_RECORDS"} {
			if mode != "REST" || version >= "130" {
				list = append(list, "IoTDB-"+version+"-"+mode)
			}
		}
	}
	return append(list,
		"InfluxDB", "InfluxDB-2.x", "OpenTSDB", "CTSDB", "KairosDB", "TimescaleDB", "TimescaleDB-cluster", "FakeDB", "TDengine", "TDengine-3",
		"QuestDB", "DolphinDB-3-MTW", "DolphinDB-3-PTA", "DolphinDB-2-MTW", "DolphinDB-2-PTA", "MsSqlServer", "VictoriaMetrics", "PIArchive",
		"SQLite", "IginX", "CnosDB", "SelfCheck")
}

// Parameters of a target.
const (
	dbSwitch      = "DB_SWITCH"
	timeoutName   = "WRITE_OPERATION_TIMEOUT_MS"
	dialectMode   = "IoTDB_DIALECT_MODE"
	alignedName   = "VECTOR"
	templateName  = "TEMPLATE"
	precisionName = "TIMESTAMP_PRECISION"
)

// target sets the system to measure.
func (m *mapping) target() {
	value := m.text(dbSwitch)
	known := ""
	for _, s := range switches() {
		if strings.EqualFold(s, value) { // compared as in the tool
			known = s
		}
	}
	if known == "" {
		m.bad(dbSwitch, "%s is not a database of IoTDB-Benchmark%s", short(value), suggest.Names(value, switches()))
		return
	}
	at := slices.IndexFunc(m.options.Drivers, func(d driver.Driver) bool {
		return strings.EqualFold(d.Name, known) ||
			slices.ContainsFunc(d.IoTDBBenchmark.Databases, func(begin string) bool { return strings.HasPrefix(known, begin) })
	})
	if at < 0 {
		names := make([]string, len(m.options.Drivers))
		for i, d := range m.options.Drivers {
			names[i] = d.Name
		}
		m.bad(dbSwitch, "%s has no driver; give one of these by --target: %s", known, strings.Join(names, ", "))
		return
	}
	d := &m.options.Drivers[at]
	t := experiment.Target{Name: d.Name, Driver: d.Name}
	m.setOrigin(dbSwitch, "targets[0]")
	m.option(&t, "HOST", optionOf(d, "HOST", connection.Host))
	m.option(&t, "PORT", optionOf(d, "PORT", connection.Port))
	m.option(&t, "USERNAME", optionOf(d, "USERNAME", connection.User))
	m.option(&t, "PASSWORD", optionOf(d, "PASSWORD", connection.Password))
	m.option(&t, "DB_NAME", optionOf(d, "DB_NAME", connection.Database))
	model, aligned := optionOf(d, dialectMode, ""), optionOf(d, alignedName, "")
	if m.has(dialectMode) && model != "" {
		set(&t, model, strings.ToLower(m.text(dialectMode)))
	}
	schema := optionOf(d, templateName, "")
	if model != "" && strings.EqualFold(m.text(dialectMode), "table") {
		m.becomes(Ignored, "tables are always aligned, and have no templates", alignedName, templateName)
	} else {
		m.option(&t, alignedName, aligned)
		if schema == "" {
			m.option(&t, templateName, "")
		} else if m.truth(templateName) {
			set(&t, schema, "template")
		}
	}
	if precision := optionOf(d, precisionName, ""); precision != "" && m.has(precisionName) {
		set(&t, precision, strings.ToLower(m.text(precisionName)))
	}
	if timeout := optionOf(d, timeoutName, connection.Timeout); timeout == "" {
		m.becomes(Ignored, d.Name+" has no such option", timeoutName)
	} else {
		set(&t, timeout, experiment.DurationText(time.Duration(min(m.integer(timeoutName), 1e9))*time.Millisecond))
	}
	m.out.Targets = []experiment.Target{t}
}

// optionOf returns the driver's option that corresponds to a parameter: declared by the driver, or
// a common option of servers; empty: none.
func optionOf(d *driver.Driver, parameter, usual string) string {
	name := cmp.Or(d.IoTDBBenchmark.Options[parameter], usual)
	if !slices.ContainsFunc(d.Options, func(o driver.Option) bool { return o.Name == name }) {
		return ""
	}
	return name
}

// option sets an option of a target to the value of a parameter in the file.
func (m *mapping) option(t *experiment.Target, name, option string) {
	if !m.has(name) {
		return
	}
	value := m.text(name)
	switch {
	case option == "":
		m.becomes(Ignored, t.Driver+" has no such option", name)
		return
	case (name == "HOST" || name == "PORT") && strings.Contains(value, ","):
		m.bad(name, "names several servers, and a target is one; name one, or several targets with --target")
		return
	case name == "PASSWORD" && strings.HasPrefix(value, "@"):
		m.bad(name, "begins with @, behind which the name of a file would stand; leave it out, and set the variable TSMARK_%s_%s", strings.ToUpper(t.Name), strings.ToUpper(option))
		return
	}
	if name == alignedName {
		value = strings.ToLower(value)
	}
	set(t, option, value)
}

func set(t *experiment.Target, option, value string) {
	if t.Options == nil {
		t.Options = make(experiment.Options)
	}
	t.Options[option] = value
}

// connecting are the parameters of the connection.
func connecting() []string {
	return []string{dbSwitch, "HOST", "PORT", "USERNAME", "PASSWORD", "DB_NAME", alignedName, templateName, timeoutName}
}
