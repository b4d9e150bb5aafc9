package servers

import (
	"fmt"
	"slices"
	"strings"
)

// Image is the official container image of a server, with what a benchmark sets in it. No test of
// tsmark runs the containers.
type Image struct {
	Server    string // name of its driver
	Reference string // name and tag
	Ports     []ImagePort
	// Environment is NAME=value, without secrets. Secret is the variable that takes the password;
	// empty: the image has no password, or a fixed one.
	Environment []string
	Secret      string
	Flags       []string          // of the runtime's command run
	Arguments   []string          // of the program in the image
	Options     map[string]string // of the driver, for a server that was started so, except host and ports
}

// ImagePort is a port of a server in a container and the option of the driver that takes it.
type ImagePort struct {
	Option string
	Number int // which is the option's default, too
}

// Images lists the images, sorted by server. Ports and variables are those of the images' pages and
// of the systems' installation guides; projects on GitHub use each tag.
func Images() []Image {
	return []Image{
		{
			Server: "cassandra", Reference: "cassandra:5.0", Ports: []ImagePort{{"port", 9042}},
		},
		{
			Server: "clickhouse", Reference: "clickhouse/clickhouse-server:25.8", Ports: []ImagePort{{"port", 9000}, {"http_port", 8123}},
			Environment: []string{"CLICKHOUSE_USER=tsmark", "CLICKHOUSE_DB=tsmark"}, Secret: "CLICKHOUSE_PASSWORD",
			Flags: []string{"--ulimit", "nofile=262144:262144"}, Options: map[string]string{"user": "tsmark", "password": ""},
		},
		{
			// The node tells its clients the container's address: direct=true ignores that.
			Server: "griddb", Reference: "griddb/griddb:5.6.0-jammy", Ports: []ImagePort{{"port", 10001}, {"sql_port", 20001}, {"system_port", 10040}},
			Environment: []string{"GRIDDB_CLUSTER_NAME=tsmark", "NOTIFICATION_MEMBER=1"}, Options: map[string]string{"direct": "true"},
		},
		{
			Server: "influxdb", Reference: "influxdb:1.8.10", Ports: []ImagePort{{"port", 8086}},
			Environment: []string{
				"INFLUXDB_REPORTING_DISABLED=true", "INFLUXDB_DATA_INDEX_VERSION=tsi1", "INFLUXDB_DATA_MAX_SERIES_PER_DATABASE=0",
				"INFLUXDB_DATA_MAX_VALUES_PER_TAG=0", "INFLUXDB_MONITOR_STORE_ENABLED=false", "INFLUXDB_HTTP_LOG_ENABLED=false",
			},
		},
		{
			Server: "influxdb2", Reference: "influxdb:2.7", Ports: []ImagePort{{"port", 8086}},
		},
		{
			Server: "iotdb", Reference: "apache/iotdb:2.0.8-standalone", Ports: []ImagePort{{"port", 6667}},
			Environment: []string{"dn_rpc_address=0.0.0.0"},
		},
		{
			Server: "mysql", Reference: "mariadb:11.4", Ports: []ImagePort{{"port", 3306}},
			Environment: []string{"MARIADB_DATABASE=tsmark", "MARIADB_USER=tsmark", "MARIADB_RANDOM_ROOT_PASSWORD=yes"}, Secret: "MARIADB_PASSWORD",
			Arguments: []string{"--local-infile=ON"}, Options: map[string]string{"user": "tsmark", "password": ""},
		},
		{
			Server: "postgres", Reference: "postgres:17", Ports: []ImagePort{{"port", 5432}},
			Secret: "POSTGRES_PASSWORD", Flags: []string{"--shm-size", "1g"}, Options: map[string]string{"user": "postgres", "password": "", "database": "postgres"},
		},
		{
			Server: "questdb", Reference: "questdb/questdb:9.3.4", Ports: []ImagePort{{"port", 9000}, {"pg_port", 8812}, {"ilp_port", 9009}},
			Environment: []string{"QDB_TELEMETRY_ENABLED=false"},
		},
		{
			Server: "tdengine", Reference: "tdengine/tdengine:3.3.6.13", Ports: []ImagePort{{"port", 6041}},
		},
		{
			// Its first start runs timescaledb-tune, which sets memory and workers for the machine.
			Server: "timescaledb", Reference: "timescale/timescaledb:2.28.3-pg16", Ports: []ImagePort{{"port", 5432}},
			Environment: []string{"TIMESCALEDB_TELEMETRY=off"}, Secret: "POSTGRES_PASSWORD",
			Flags: []string{"--shm-size", "1g"}, Options: map[string]string{"user": "postgres", "password": "", "database": "postgres"},
		},
		{
			Server: "victoriametrics", Reference: "victoriametrics/victoria-metrics:v1.151.0", Ports: []ImagePort{{"port", 8428}},
			Arguments: []string{"-retentionPeriod=100y", "-search.maxUniqueTimeseries=3000000"},
		},
	}
}

// FindImage returns the image of a server; ok is false if tsmark knows no image of it.
func FindImage(server string) (Image, bool) {
	list := Images()
	i := slices.IndexFunc(list, func(m Image) bool { return m.Server == server })
	if i < 0 {
		return Image{}, false
	}
	return list[i], true
}

// ContainerName is the name of a server's container, which marks it as tsmark's.
func ContainerName(server string) string { return "tsmark-" + server }

// runArguments returns the arguments of the runtime that run the container in the background, with
// its ports on 127.0.0.1, the first of them at port; 0: at the image's own numbers. A secret is
// passed by the environment; with shown the arguments contain it, for a person to type.
func (m *Image) runArguments(port int, shown bool) []string {
	args := []string{"run", "-d", "--name", ContainerName(m.Server)}
	for i, p := range m.Ports {
		args = append(args, "-p", fmt.Sprintf("127.0.0.1:%d:%d", m.portAt(port, i), p.Number))
	}
	args = append(args, m.Flags...)
	for _, variable := range m.Environment {
		args = append(args, "-e", variable)
	}
	switch {
	case m.Secret == "":
	case shown:
		args = append(args, "-e", m.Secret+"="+Password())
	default:
		args = append(args, "-e", m.Secret)
	}
	return append(append(args, m.Reference), m.Arguments...)
}

// portAt returns the port of 127.0.0.1 for port i of the image.
func (m *Image) portAt(first, i int) int {
	if first == 0 {
		return m.Ports[i].Number
	}
	return first + i
}

// Command returns the command that runs the container as a person types it, with the password that
// tsmark's servers on 127.0.0.1 have.
func (m *Image) Command() string { return "docker " + strings.Join(m.runArguments(0, true), " ") }

// Target returns the value of --target for the container of Command, if port is 0, or for one whose
// ports start at port. The password is the given text.
func (m *Image) Target(port int, password string) string {
	parts := []string{m.Server}
	if port != 0 {
		parts = append(parts, "host=127.0.0.1")
		for i, p := range m.Ports {
			parts = append(parts, fmt.Sprintf("%s=%d", p.Option, m.portAt(port, i)))
		}
	}
	for _, name := range []string{"direct", "database", "password", "user"} {
		value, ok := m.Options[name]
		if name == "password" {
			value = password
		}
		if ok {
			parts = append(parts, name+"="+value)
		}
	}
	return strings.Join(parts, ",")
}

// Password is the public password of servers that tsmark starts on 127.0.0.1.
func Password() string { return strings.TrimSpace(text(passwordFile)) }
