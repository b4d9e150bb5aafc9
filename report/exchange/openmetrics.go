package exchange

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

// family is a metric family of OpenMetrics.
type family struct {
	name, unit, help string
	samples          []string
}

// OpenMetrics writes the figures of finished runs as OpenMetrics text with the times at which the runs ended, for
// promtool tsdb create-blocks-from openmetrics. Withheld figures have no sample but
// tsmark_figure_withheld. The function computes the figures.
func OpenMetrics(w io.Writer, runs []*result.Run, figures func(*result.Run) store.Figures) error {
	info := &family{name: "tsmark_run_info", help: "A finished run: always 1."}
	median := &family{name: "tsmark_query_median_seconds", unit: "seconds", help: "Median time of the queries of a type. With bound, an end of its interval."}
	p99 := &family{name: "tsmark_query_p99_seconds", unit: "seconds", help: "99th percentile of the times of all queries of a type."}
	rate := &family{name: "tsmark_query_rate", help: "Queries of a type per second."}
	load := &family{name: "tsmark_load_rate", help: "Rows loaded per second until all had settled. With bound, an end of its interval."}
	disk := &family{name: "tsmark_disk_bytes", unit: "bytes", help: "Size on disk after the load settled."}
	withheld := &family{name: "tsmark_figure_withheld", help: "1 if a query type (or the load, without type) has no verified figure."}
	for _, r := range runs {
		at := r.Finished
		if at.IsZero() {
			at = r.Started
		}
		version := make(map[string]string)
		for i := range r.Targets {
			version[r.Targets[i].Name] = r.Targets[i].System()
		}
		add := func(f *family, value *float64, labels ...string) {
			if value != nil {
				f.samples = append(f.samples, sample(f.name, append([]string{"run", r.ID}, labels...), *value, float64(at.UnixMilli())/1e3))
			}
		}
		one := 1.0
		add(info, &one, "name", r.Name, "command", r.Command, "workload", r.Dataset.Spec.Name, "tsmark", r.Tool.Version)
		all := figures(r)
		for i := range all.Queries {
			q := &all.Queries[i]
			labels := []string{"target", q.Target, "version", version[q.Target], "type", q.Type, "verdict", q.Verdict}
			bounded := func(bound string) []string { return append(labels[:len(labels):len(labels)], "bound", bound) }
			add(median, q.Median, labels...)
			add(median, q.Low, bounded("low")...)
			add(median, q.High, bounded("high")...)
			add(p99, q.P99, labels...)
			add(rate, q.Rate, labels...)
			if q.Median == nil {
				add(withheld, &one, labels...)
			}
		}
		for i := range all.Loads {
			l := &all.Loads[i]
			labels := []string{"target", l.Target, "version", version[l.Target], "verdict", l.Verdict}
			bounded := func(bound string) []string { return append(labels[:len(labels):len(labels)], "bound", bound) }
			add(load, l.Rate, labels...)
			add(load, l.Low, bounded("low")...)
			add(load, l.High, bounded("high")...)
			if l.Disk != nil {
				bytes := float64(*l.Disk)
				add(disk, &bytes, labels...)
			}
			if l.Rate == nil {
				add(withheld, &one, labels...)
			}
		}
	}
	out := bufio.NewWriter(w)
	for _, f := range []*family{info, median, p99, rate, load, disk, withheld} {
		if len(f.samples) == 0 {
			continue
		}
		kind, name := "gauge", f.name
		if base, isInfo := strings.CutSuffix(f.name, "_info"); isInfo {
			kind, name = "info", base
		}
		fmt.Fprintf(out, "# TYPE %s %s\n", name, kind)
		if f.unit != "" {
			fmt.Fprintf(out, "# UNIT %s %s\n", name, f.unit)
		}
		fmt.Fprintf(out, "# HELP %s %s\n", name, f.help)
		for _, s := range f.samples {
			out.WriteString(s)
		}
	}
	out.WriteString("# EOF\n")
	return out.Flush()
}

// sample is a line of a sample. Empty labels are left out.
func sample(name string, labels []string, value, seconds float64) string {
	var list []string
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	for i := 0; i < len(labels); i += 2 {
		if text := strings.ToValidUTF8(labels[i+1], "?"); text != "" {
			list = append(list, labels[i]+`="`+escape.Replace(text)+`"`)
		}
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return name + "{" + strings.Join(list, ",") + "} " + number(value) + " " + strconv.FormatFloat(seconds, 'f', -1, 64) + "\n"
}
