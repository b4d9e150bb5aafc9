package iotdbconfig

import (
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/run/experiment"
)

// connection is which options of a kind of target take the place of the tool's
// parameters; empty: it has none.
type connection struct {
	kind                                          string
	host, port, user, password, database, timeout string
}

// connections are the targets of the tool's databases.
func connections() map[string]connection {
	server := func(kind string) connection {
		return connection{kind, "host", "port", "user", "password", "database", "timeout"}
	}
	return map[string]connection{
		"InfluxDB":    server("influxdb"),
		"TimescaleDB": server("timescaledb"),
		"QuestDB":     {kind: "questdb", host: "host", port: "pg_port", user: "pg_user", password: "pg_password", timeout: "timeout"},
		"SQLite":      {kind: "sqlite"},
		"FakeDB":      {kind: "null"},
	}
}

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

// dbSwitch is the parameter that names the database.
const dbSwitch = "DB_SWITCH"

// target sets the system to be measured.
func (m *mapping) target() {
	value := m.text(dbSwitch)
	known := ""
	for _, s := range switches() {
		if strings.EqualFold(s, value) { // as the tool compares
			known = s
		}
	}
	if known == "" {
		m.bad(dbSwitch, "%s is no database of IoTDB-Benchmark%s", short(value), suggest.Among(value, switches()))
		return
	}
	c, ok := connections()[known]
	switch {
	case !ok && !m.has(dbSwitch):
		m.bad(dbSwitch, "is left out, and stands for %s then, which has no driver; give one of these by --target: %s", known, strings.Join(m.options.Kinds, ", "))
		return
	case !ok:
		m.bad(dbSwitch, "%s has no driver; give one of these by --target: %s", known, strings.Join(m.options.Kinds, ", "))
		return
	}
	t := experiment.Target{Name: c.kind, Kind: c.kind}
	m.from(dbSwitch, "targets[0]")
	m.option(&t, "HOST", c.host)
	m.option(&t, "PORT", c.port)
	m.option(&t, "USERNAME", c.user)
	m.option(&t, "PASSWORD", c.password)
	m.option(&t, "DB_NAME", c.database)
	if c.timeout == "" {
		m.becomes(Ignored, c.kind+" has no such option", "WRITE_OPERATION_TIMEOUT_MS")
	} else {
		timeout := time.Duration(min(m.whole("WRITE_OPERATION_TIMEOUT_MS"), 1e9)) * time.Millisecond
		set(&t, c.timeout, experiment.DurationText(timeout))
	}
	m.out.Targets = []experiment.Target{t}
}

// option gives an option of a target the value of a parameter that is given.
func (m *mapping) option(t *experiment.Target, name, option string) {
	if !m.has(name) {
		return
	}
	value := m.text(name)
	switch {
	case option == "":
		m.becomes(Ignored, t.Kind+" has no such option", name)
		return
	case (name == "HOST" || name == "PORT") && strings.Contains(value, ","):
		m.bad(name, "names several servers, and a target is one; name one, or several targets with --target")
		return
	case name == "PASSWORD" && strings.HasPrefix(value, "@"):
		m.bad(name, "begins with @, behind which the name of a file would stand; leave it out, and set the variable TSMARK_%s_%s", strings.ToUpper(t.Name), strings.ToUpper(option))
		return
	}
	set(t, option, value)
}

func set(t *experiment.Target, option, value string) {
	if t.Options == nil {
		t.Options = make(experiment.Options)
	}
	t.Options[option] = value
}

// connecting are the parameters that say where and how to connect.
func connecting() []string {
	return []string{dbSwitch, "HOST", "PORT", "USERNAME", "PASSWORD", "DB_NAME", "WRITE_OPERATION_TIMEOUT_MS"}
}
