package iotdbconfig

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/workload"
)

// dataset sets the parameters of the rows. operations sets their number.
func (m *mapping) dataset() {
	w := &m.out.Workload
	*w = workload.Spec{Name: "iotdb", Seed: m.integer("DATA_SEED"), Interval: m.time("POINT_STEP")}
	w.Settings.Set("iotdb.values", "shared-buffer")
	m.setOrigin("DATA_SEED", "workload.seed")
	m.setOrigin("POINT_STEP", "workload.log-interval")
	if w.Seed == 0 {
		m.bad("DATA_SEED", "0 draws a seed from the clock here; give another")
	}
	m.devices()
	m.sensors()
	m.tags()
	m.distribution()
	start, err := time.Parse("2006-1-2T15:4:5Z07:00", m.text("START_TIME"))
	if err != nil {
		m.bad("START_TIME", "must be a time with its offset, such as 2022-01-01T00:00:00+08:00, not %s", short(m.text("START_TIME")))
		return
	}
	w.Start = start.UTC().Add(w.Interval)
	m.setOrigin("START_TIME", "workload.timestamp-start")
}

// time returns a duration, in the unit of the timestamps.
func (m *mapping) time(name string) time.Duration {
	unit := time.Millisecond
	switch strings.ToLower(m.text(precisionName)) {
	case "us":
		unit = time.Microsecond
	case "ns":
		unit = time.Nanosecond
	}
	n := m.integer(name)
	if n > int64(maxSpan/unit) {
		m.bad(name, "%d is longer than 200 years", n)
		return unit
	}
	return time.Duration(n) * unit
}

// maxSpan limits durations: 64 bits of nanoseconds hold 292 years.
const maxSpan = 200 * 365 * 24 * time.Hour

// devices sets devices, tables and clients.
func (m *mapping) devices() {
	w := &m.out.Workload
	devices := m.count("DEVICE_NUMBER")
	w.Scale = uint32(float64(devices) * m.number("REAL_INSERT_RATE")) // rounded as in the tool
	m.setOrigin("DEVICE_NUMBER", "workload.scale")
	if w.Scale == 0 {
		m.bad("REAL_INSERT_RATE", "leaves none of %d devices; raise it", devices)
	}
	groups := "GROUP_NUMBER"
	if strings.EqualFold(m.text(dialectMode), "table") {
		groups = "IoTDB_TABLE_NUMBER"
		m.becomes(Ignored, "the table dialect has as many tables as IoTDB_TABLE_NUMBER says", "GROUP_NUMBER")
		tables := m.count(groups)
		if n := m.count("GROUP_NUMBER"); tables%n != 0 {
			m.bad(groups, "%d tables are not a multiple of the %d databases of GROUP_NUMBER", tables, n)
		}
		if tables > 0 && devices%tables != 0 {
			m.bad(groups, "the %d devices of DEVICE_NUMBER are not a multiple of %d tables", devices, tables)
		}
	} else {
		m.becomes(Ignored, "the tree dialect has as many tables as GROUP_NUMBER says", "IoTDB_TABLE_NUMBER")
	}
	n := m.count(groups)
	m.setWorkload(groups, "device-groups", fmt.Sprint(n))
	switch {
	case n > w.Scale && w.Scale > 0:
		m.bad(groups, "%d groups are more than %d devices; lower it, or raise DEVICE_NUMBER", n, w.Scale)
	case n > 1 && !strings.EqualFold(m.text("SG_STRATEGY"), "mod"):
		m.bad("SG_STRATEGY", "devices are dealt to groups by mod; leave %s out", m.text("SG_STRATEGY"))
	}
}

// sensors sets sensors and the types of their values.
func (m *mapping) sensors() {
	m.setWorkload("SENSOR_NUMBER", "sensors", fmt.Sprint(m.count("SENSOR_NUMBER")))
	m.setWorkload("IS_SENSOR_TS_ALIGNMENT", "unaligned", m.not("IS_SENSOR_TS_ALIGNMENT"))
	m.setWorkload("STRING_LENGTH", "text-length", fmt.Sprint(m.count("STRING_LENGTH")))
	m.setWorkload("DOUBLE_LENGTH", "decimals", m.text("DOUBLE_LENGTH"))
	if m.truth("IS_SENSOR_TS_ALIGNMENT") {
		m.becomes(Ignored, "without effect where sensors are aligned", "TS_ALIGNMENT_RATIO")
	} else if m.number("TS_ALIGNMENT_RATIO") != 1 {
		m.bad("TS_ALIGNMENT_RATIO", "all sensors are kept here; set it to 1, and lower SENSOR_NUMBER")
	}
	const proportion = "INSERT_DATATYPE_PROPORTION"
	shares, ok := m.shares(proportion, 6, 11)
	if !ok {
		return
	}
	if len(shares) == 11 {
		if shares[10] > 0 {
			m.bad(proportion, "there is no type OBJECT here, the eleventh; set its share to 0")
		}
		shares = shares[:10]
	}
	m.setWorkload(proportion, "types", formatShares(shares))
}

// shares reads numbers separated by colons, which must not all be 0. Files of earlier versions of
// the tool have only the first of them.
func (m *mapping) shares(name string, earlier, now int) ([]float64, bool) {
	var list []float64
	sum := 0.0
	parts := strings.Split(m.text(name), ":")
	if len(parts) < earlier || len(parts) > now {
		m.bad(name, "has %d shares; write %d, or at least %d in files of earlier versions, with 0 for unwanted operations or types", len(parts), now, earlier)
		return nil, false
	}
	for _, part := range parts {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(x >= 0 && x <= 1e9) {
			m.bad(name, "%s in %s is not a share; write numbers of 0 or more, separated by colons", short(part), short(m.text(name)))
			return nil, false
		}
		list = append(list, x)
		sum += x
	}
	if sum == 0 {
		m.bad(name, "%s sums to 0; make a share greater than 0", short(m.text(name)))
		return nil, false
	}
	return list, true
}

// formatShares formats shares as an experiment does.
func formatShares(shares []float64) string {
	parts := make([]string, len(shares))
	for i, s := range shares {
		parts[i] = strconv.FormatFloat(s, 'f', -1, 64)
	}
	return strings.Join(parts, ":")
}

// tags sets the additional tags of devices.
func (m *mapping) tags() {
	const list = "TAG_VALUE_CARDINALITY"
	var counts []string
	for _, part := range strings.Split(m.text(list), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if n, err := strconv.ParseUint(part, 10, 31); err != nil || n < 1 {
			m.bad(list, "%s is not a number of values; write 1 or more for each tag, separated by commas", short(part))
			return
		}
		counts = append(counts, part)
	}
	if n := m.integer("TAG_NUMBER"); n != int64(len(counts)) {
		name := "TAG_NUMBER"
		if !m.has(name) {
			name = list
		}
		m.bad(name, "TAG_NUMBER says %d tags, and TAG_VALUE_CARDINALITY has %d numbers of values", n, len(counts))
	}
	m.setWorkload(list, "tags", strings.Join(counts, ":"))
}

// distribution sets the shares of the value functions, in the order of the workload.
func (m *mapping) distribution() {
	names := []string{"SQUARE_RATIO", "SIN_RATIO", "LINE_RATIO", "RANDOM_RATIO", "CONSTANT_RATIO"}
	shares, sum, last := make([]float64, len(names)), 0.0, names[0]
	for i, name := range names {
		shares[i] = m.number(name)
		sum += shares[i]
		if m.settings[name].line > m.settings[last].line {
			last = name
		}
	}
	if sum == 0 {
		m.bad(last, "all five ratios are 0, so that no sensor has a function; make one greater than 0")
	}
	m.setWorkload(last, "distribution", formatShares(shares))
}

// arrival sets the order and the times of the rows.
func (m *mapping) arrival() {
	m.setWorkload("IS_REGULAR_FREQUENCY", "irregular", m.not("IS_REGULAR_FREQUENCY"))
	late, ratio := m.truth("IS_OUT_OF_ORDER"), m.number("OUT_OF_ORDER_RATIO")
	poisson := strings.EqualFold(m.text("OUT_OF_ORDER_MODE"), "POISSON")
	if !late || !poisson {
		for _, name := range []string{"LAMBDA", "MAX_K"} {
			if m.isChanged(name) {
				m.bad(name, "is for late rows by POISSON; set IS_OUT_OF_ORDER to true and OUT_OF_ORDER_MODE to POISSON, or leave it out")
			}
		}
		m.becomes(Ignored, "without effect where no row is late by POISSON", "LAMBDA", "MAX_K")
	}
	if !late {
		m.becomes(Ignored, "without effect where IS_OUT_OF_ORDER is false", "OUT_OF_ORDER_MODE", "OUT_OF_ORDER_RATIO")
		return
	}
	m.setOrigin("OUT_OF_ORDER_RATIO", "workload.iotdb.late")
	m.setOrigin("OUT_OF_ORDER_MODE", "workload.iotdb.late-mode")
	if ratio == 0 {
		m.becomes(Ignored, "without effect where OUT_OF_ORDER_RATIO is 0", "OUT_OF_ORDER_MODE", "LAMBDA", "MAX_K")
		return
	}
	m.setWorkload("OUT_OF_ORDER_RATIO", "late", strconv.FormatFloat(ratio, 'f', -1, 64))
	if !poisson {
		m.setWorkload("OUT_OF_ORDER_MODE", "late-mode", "global")
		return
	}
	lambda := m.number("LAMBDA")
	m.setWorkload("LAMBDA", "late-mean", strconv.FormatFloat(lambda, 'f', -1, 64))
	m.setWorkload("OUT_OF_ORDER_MODE", "late-mode", "paper-poisson")
	// A Poisson number exceeds this with a probability below 10^-15.
	reached, bound := lambda+10*math.Sqrt(lambda)+40, m.count("MAX_K")
	switch {
	case m.out.Mixed.Enabled():
		m.setWorkload("OUT_OF_ORDER_MODE", "late-mode", "")
		if float64(bound) < reached {
			m.setWorkload("MAX_K", "late-most", fmt.Sprint(bound))
		}
	case float64(bound) < reached:
		m.bad("MAX_K", "delays of %g steps on average may reach %d here, which is not bounded; raise it to %.0f, or lower LAMBDA", lambda, bound, math.Ceil(reached))
	}
}
