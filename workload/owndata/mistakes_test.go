package owndata_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/witness/duckdb"
	"github.com/tsmark/tsmark/workload/owndata"
)

// proposal is what a file is to be taken for.
type proposal struct {
	settings []string          // that are given
	want     map[string]string // settings that are found; empty: it is left out
	facts    []string          // beginnings of facts
	quiet    bool              // no fact says "so it is a text", or that something is left out
	refused  string            // beginning of the error
}

// check inspects a file.
func (p proposal) check(t *testing.T, path string) {
	t.Helper()
	found, err := inspect(t, append([]string{"files=" + strconv.Quote(path)}, p.settings...)...)
	if p.refused != "" {
		var bad *workload.SpecError
		if !errors.As(err, &bad) {
			t.Fatalf("%v is not an error that names a setting", err)
		}
		for i, said := range strings.Split(strings.ReplaceAll(bad.Problem, filepath.Dir(path)+"/", ""), "\n") {
			if i == 0 && !strings.HasPrefix(said, p.refused) || i > 0 && !strings.HasPrefix(said, filepath.Base(path)+":") { // further rows of CSV
				t.Errorf("got  %s\nwant %s", said, p.refused)
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range p.want {
		if got := found.Spec.Settings["own."+name]; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	facts := "\n" + strings.ReplaceAll(strings.Join(found.Facts, "\n"), filepath.Dir(path)+"/", "")
	for _, fact := range p.facts {
		if !strings.Contains(facts, "\n"+fact) {
			t.Errorf("no fact says %q:%s", fact, facts)
		}
	}
	if p.quiet && (strings.Contains(facts, "so it is") || strings.Contains(facts, "left out")) {
		t.Errorf("facts are%s", facts)
	}
}

// rowsOf writes a header and rows of CSV; row returns the text after the time.
func rowsOf(header string, n int, row func(i int) string) string {
	var text strings.Builder
	text.WriteString(header + "\n")
	for i := range n {
		fmt.Fprintf(&text, "%s,%s\n", time.Date(2024, 1, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339), row(i))
	}
	return text.String()
}

// A few values that are of another type than all others are named, and make no tag of
// a column of numbers.
func TestFewOthers(t *testing.T) {
	except := func(at int, odd string, value func(i int) string) func(int) string {
		return func(i int) string {
			if i == at {
				return "h," + odd
			}
			return "h," + value(i)
		}
	}
	whole := func(i int) string { return fmt.Sprint(i % 7) }
	decimal := func(i int) string { return fmt.Sprintf("%d.5", i%7) }
	for name, c := range map[string]struct {
		text string
		proposal
	}{
		"a missing value": {rowsOf("time,host,v", 50, except(20, "NA", whole)), proposal{
			want:  map[string]string{"tags": "host", "fields": "v:text"},
			facts: []string{`column v is int but for 1 of 50 values, "NA" in t.csv:22, so it is a text; --null NA (own.null) reads that as missing, and the column as int`},
		}},
		"as the settings say": {rowsOf("time,host,v", 50, except(20, "NA", whole)), proposal{
			settings: []string{"null=NA"}, want: map[string]string{"tags": "host", "fields": "v:int"}, facts: []string{"field v of table t is missing in 1 rows"}, quiet: true,
		}},
		"a wrong value": {rowsOf("time,host,v", 50, except(7, "abc", decimal)), proposal{
			want:  map[string]string{"tags": "host", "fields": "v:text"},
			facts: []string{`column v is float but for 1 of 50 values, "abc" in t.csv:9, so it is a text; correct the value`},
		}},
		"most are missing": {rowsOf("time,host,v", 3000, func(i int) string { return map[bool]string{true: `h,\N`, false: "h,1.5"}[i%3 > 0] }), proposal{
			want:  map[string]string{"tags": "host", "fields": "v:text"},
			facts: []string{`column v is float but for 2,000 of 3,000 values, the first is "\\N" in t.csv:3, so it is a text; --null '\N' (own.null)`},
		}},
		"missing and wrong": {rowsOf("time,host,v", 60, func(i int) string {
			return map[int]string{20: "h,n/a", 30: "h,5°"}[i] + map[bool]string{true: "h,1.5"}[i != 20 && i != 30]
		}), proposal{
			facts: []string{`column v is float but for 2 of 60 values, the first is "n/a" in t.csv:22, so it is a text; --null n/a (own.null) reads n/a as missing; correct the others, such as "5°", or name the column in fields as v:float`},
		}},
		"truth":         {rowsOf("time,host,v,n", 50, except(7, "maybe,1", func(int) string { return "true,1" })), proposal{want: map[string]string{"fields": "v:text, n:int"}, facts: []string{`column v is bool but for 1 of 50 values, "maybe" in t.csv:9`}}},
		"a second time": {rowsOf("time,host,v,n", 50, except(7, "later,1", func(int) string { return "2024-01-01T00:00:00Z,1" })), proposal{want: map[string]string{"time": "time", "fields": "v:text, n:int"}, facts: []string{`column v is timestamp but for 1 of 50 values, "later" in t.csv:9`}}},
		"codes":         {rowsOf("time,host,v,n", 50, func(i int) string { return fmt.Sprintf("h,0%d,1", i%7) }), proposal{want: map[string]string{"tags": "host, v", "fields": "n:int"}, quiet: true}},
		"names":         {rowsOf("time,host,v,n", 50, func(i int) string { return fmt.Sprintf("h,%s,1", []string{"3", "5", "X5"}[i%3]) }), proposal{want: map[string]string{"tags": "host, v", "fields": "n:int"}, quiet: true}},
		"commas": {"time\thost\tv\n2024-01-01\th\t0,5\n2024-01-02\th\t1,5\n", proposal{
			want: map[string]string{"tags": "host", "fields": "v:text"}, facts: []string{`column v has numbers with commas, such as "0,5" in t.csv:2, so it is a text`},
		}},
		"thousands": {"time;v\n2024-01-01;\"1,234.50\"\n2024-01-02;7,000,000\n", proposal{want: map[string]string{"tags": "", "fields": "v:text"}, facts: []string{`column v has numbers with commas, such as "1,234.50" in t.csv:2`}}},
		"pairs":     {"time;v;n\n2024-01-01;48.1,11.5;1\n2024-01-02;48.1,11.5;1\n", proposal{want: map[string]string{"tags": "v", "fields": "n:int"}, quiet: true}},
		"too large": {"time,v\n2024-01-01,1\n2024-01-02,9223372036854775809\n", proposal{want: map[string]string{"fields": "v:float"}, facts: []string{"column v is float, which rounds 9223372036854775809 in t.csv:3: it keeps 15 to 17 digits"}}},
		"large with decimals": {"time,v\n2024-01-01,9007199254740993\n2024-01-02,0.5\n", proposal{
			want: map[string]string{"fields": "v:float"}, facts: []string{"column v is float, which rounds 9007199254740993 in t.csv:2"},
		}},
		"no name":            {"time,,v\n2024-01-01,7,1\n", proposal{want: map[string]string{"fields": "v:int"}, facts: []string{"a column without a name is left out"}}},
		"empty":              {"time,gone,v\n2024-01-01,,1\n", proposal{want: map[string]string{"fields": "v:int"}, facts: []string{"column gone is left out: it has no values"}}},
		"other bytes":        {"time,host,v\n2024-01-01,Bern,1\n2024-01-01,Z\xfcrich,1\n", proposal{refused: `column host has "Z\xfcrich" in t.csv:3, which is not valid UTF-8; give the encoding of the file (own.encoding, --encoding), such as windows-1252 or latin1, or name all tags`}},
		"other bytes, named": {"time,host,v\n2024-01-01,Bern,1\n2024-01-01,Z\xfcrich,1\n", proposal{settings: []string{"tags=none"}, want: map[string]string{"tags": "", "fields": "v:int"}, facts: []string{`column host is left out: "Z\xfcrich" in t.csv:3 is not valid UTF-8`}}},
		"no field":           {"time,host\n2024-01-01,Bern\n2024-01-01,Z\xfcrich\n", proposal{refused: `table t has no column that can be a field; fields are numbers, truth values, times, and texts of at most 65535 bytes of UTF-8 that are not tags; 2 times have no zone, and are taken as UTC; own.time-zone, or --time-zone, names another; column host is left out: "Z\xfcrich"`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.check(t, write(t, "t.csv", strings.Replace(c.text, nothing, "", 1)))
		})
	}
}

// nothing is a row without a value.
const nothing = "2024-01-01T00:00:00Z,\n"

// Members of JSON are named as cells of CSV are; texts in quotes are names.
func TestFewOtherMembers(t *testing.T) {
	lines := func(n int, value func(i int) string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `{"ts":%d,"n":1,"v":%s}`+"\n", 1704067200+i, value(i))
		}
		return text.String()
	}
	pick := func(odd string, every int, other string) func(int) string {
		return func(i int) string {
			if i%every == 3 {
				return odd
			}
			return other
		}
	}
	for name, c := range map[string]struct {
		text string
		proposal
	}{
		"missing":        {lines(40, pick(`"NA"`, 40, "1.5")), proposal{want: map[string]string{"fields": "n:int, v:text"}, facts: []string{`column v is float but for 1 of 40 values, "NA" in t.ndjson:4`}}},
		"some in quotes": {lines(40, pick(`"7"`, 10, "1")), proposal{want: map[string]string{"fields": "n:int, v:int"}, quiet: true}},
		"all in quotes":  {lines(40, pick(`"7"`, 10, `"1"`)), proposal{want: map[string]string{"tags": "", "fields": "n:int, v:text1"}, facts: []string{"column v changes within a series, so it is a text field"}}},
		"nested":         {lines(40, pick(`[1]`, 40, "1")), proposal{want: map[string]string{"fields": "n:int"}, facts: []string{"column v is left out: it has an array in t.ndjson:4"}}},
		"null":           {lines(40, pick("null", 1000, "null")), proposal{want: map[string]string{"fields": "n:int"}, facts: []string{"column v is left out: it has no values"}}},
		"merged":         {`{"ts":1704067200,"id":["a"],"v":1}` + "\n" + `{"ts":1704067200,"id":["b"],"v":2}`, proposal{refused: "1 rows have the series and time of another row, which a column that is left out may tell apart: column id is left out: it has an array in t.ndjson:1"}},
		"object or not":  {lines(40, pick(`{"a":1}`, 40, "1")), proposal{want: map[string]string{"fields": "n:int, v.a:int"}, facts: []string{"column v is left out: it has an object in t.ndjson:4"}}},
		"named and nested": {lines(40, pick(`[1]`, 40, "1")), proposal{
			settings: []string{"time=ts", "time-format=s", "table=t", "tags=none", "fields=v:int"}, refused: `t.ndjson:4: column v: "[1]" is nested; leave the column out of time, tags and fields`,
		}},
		"no such member": {lines(40, pick("2", 40, "1")), proposal{
			settings: []string{"time=ts", "time-format=s", "table=t", "tags=none", "fields=nn:int"}, refused: `no file has a column "nn"; did you mean "n"`,
		}},
		"null alone": {lines(40, pick("null", 1, "null")) + `{"ts":1,"v":null}`, proposal{
			settings: []string{"time=ts", "time-format=s", "table=t", "tags=none", "fields=v:int"}, want: map[string]string{"fields": "v:int"}, facts: []string{"field v of table t is missing in 41 rows"},
		}},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, write(t, "t.ndjson", c.text)) })
	}
}

// The error of a malformed time names the line and how to set the format of times.
func TestTimesThatAreNone(t *testing.T) {
	odd := rowsOf("time,host,v", 30, func(i int) string { return "h,1" }) + "n/a,h,1\n"
	either := "Date,Symbol,Price\n01/02/2024 15:04,A,12.5\n"
	american := "Date,Symbol,Price\n01/02/2024 15:04,A,12.5\n01/13/2024 15:05,A,13.5\n"
	for name, c := range map[string]struct {
		text string
		proposal
	}{
		"one":                        {odd, proposal{refused: `t.csv:32: column time: "n/a" is not a time, as 30 of 31 values are; correct the line, or name another column with own.time`}},
		"one of the named":           {odd, proposal{settings: []string{"time=time"}, refused: `t.csv:32: column time: "n/a" is not a time, as 30 of 31 values are`}},
		"not another column":         {strings.ReplaceAll(strings.ReplaceAll(odd, ",v\n", ",updated\n"), ",1\n", ",2024-01-01\n"), proposal{refused: `t.csv:32: column time: "n/a" is not a time`}},
		"one of the epochs":          {"ts,v\n1704067200,1\n1704067201,1\nx,1\n", proposal{refused: `t.csv:4: column ts: "x" is not a time, as 2 of 3 values are`}},
		"a header":                   {"time,v\n1704067200,1\n1704067201,1\n", proposal{settings: []string{"columns=time,v"}, refused: `t.csv:1: column time: "time" is not a time, as 2 of 3 values are; leave own.columns, or --columns, out`}},
		"either order":               {either, proposal{refused: `t.csv:2: column Date: the day or the month may be first in all values, such as "01/02/2024 15:04"; say which with own.time-format, as in --time-format '2/1/2006 15:04', or --time-format '1/2/2006 15:04'`}},
		"either named order":         {either, proposal{settings: []string{"time=Date"}, refused: `t.csv:2: column Date: the day or the month may be first in all values`}},
		"another order":              {american, proposal{want: map[string]string{"time": "Date", "time-format": "1/2/2006 15:04"}, facts: []string{"times from 2024-01-02T15:04:00Z to 2024-01-13T15:05:00Z", `times such as "01/02/2024 15:04" in column Date are read as 1/2/2006 15:04 (month first); own.time-format, or --time-format, names another layout`, "2 times have no zone, and are taken as UTC"}}},
		"another named order":        {american, proposal{settings: []string{"time=Date"}, want: map[string]string{"time-format": "1/2/2006 15:04"}}},
		"dots":                       {"Zeit;Wert\n02.01.2024 15:04:05;1,5\n3.1.2024 5:04:05;2,5\n", proposal{settings: []string{"time-zone=Europe/Athens"}, want: map[string]string{"time": "Zeit", "fields": "Wert:float"}, facts: []string{"times from 2024-01-02T13:04:05Z to 2024-01-03T03:04:05Z", `times such as "02.01.2024 15:04:05" in column Zeit are read as 2.1.2006 15:04:05 (day first)`}}},
		"dots, one wrong":            {"Zeit;Wert\n02.01.2024 15:04;1\n03.01.2024 15:04;1\n04.01.2024 15:04;1\n32.01.2024 15:04;1\n", proposal{refused: `t.csv:5: column Zeit: "32.01.2024 15:04" is not a time as 2.1.2006 15:04; correct the line`}},
		"dates, dots":                {"Datum;Wert\n29.9.2025;1,5\n30.9.2025;2,5\n", proposal{want: map[string]string{"time": "Datum", "time-format": "2.1.2006", "fields": "Wert:float"}, facts: []string{"times from 2025-09-29T00:00:00Z to 2025-09-30T00:00:00Z", `times such as "29.9.2025" in column Datum are read as 2.1.2006 (day first)`}}},
		"dates, slashes":             {"Date,Price\n9/29/2025,1\n9/30/2025,2\n", proposal{want: map[string]string{"time-format": "1/2/2006"}, facts: []string{"times from 2025-09-29T00:00:00Z"}}},
		"dates, hyphens":             {"Date,Price\n29-09-2025,1\n30-09-2025,2\n", proposal{want: map[string]string{"time-format": "2-1-2006"}}},
		"dates, year first":          {"Date,Price\n2025/09/29,1\n2025/10/01,2\n", proposal{want: map[string]string{"time-format": "2006/1/2"}}},
		"dates, months named":        {"Date,Price\n1 May 2025,1\n2 May 2025,2\n", proposal{want: map[string]string{"time-format": "2 Jan 2006"}}},
		"dates, one of many decides": {"Date,Price\n01/02/2025,1\n02/02/2025,2\n03/02/2025,2\n04/02/2025,2\n13/02/2025,2\n", proposal{want: map[string]string{"time-format": "2/1/2006"}, facts: []string{"times from 2025-02-01T00:00:00Z to 2025-02-13T00:00:00Z"}}},
		"dates, some wrong":          {"Datum;Wert\nsoon;0\n1.9.2025;1\n31.9.2025;1\n" + strings.Repeat("2.9.2025;1\n", 20), proposal{refused: `t.csv:2: column Datum: "soon" is not a time as 2.1.2006; correct the line`}},
		"dates, either order":        {"Date,Price\n01/02/2025,1\n02/02/2025,2\n", proposal{refused: `t.csv:2: column Date: the day or the month may be first in all values, such as "01/02/2025"; say which with own.time-format, as in --time-format 2/1/2006, or --time-format 1/2/2006`}},
		"dates, said":                {"Date,Price\n01/02/2025,1\n02/02/2025,2\n", proposal{settings: []string{"time-format=1/2/2006"}, facts: []string{"times from 2025-01-02T00:00:00Z to 2025-02-02T00:00:00Z"}}},
		"dates, not the time":        {"born,time,v\n29.9.1980,2024-01-01,1\n30.9.1980,2024-01-02,1\n", proposal{want: map[string]string{"time": "time", "tags": "born"}}},
		"dates and times of day": {"Date;Time;Power\n16/12/2006;17:24:00;4.216\n16/12/2006;17:25:00;5.360\n", proposal{want: map[string]string{"time": "Date, Time", "time-format": "2/1/2006 15:04:05", "fields": "Power:float"}, facts: []string{
			"times from 2006-12-16T17:24:00Z to 2006-12-16T17:25:00Z", `times such as "16/12/2006 17:24:00" in column Date, Time are read as 2/1/2006 15:04:05 (day first)`,
		}}},
		"dates and times of day, either order": {"Date;Time;Power\n06/12/2006;17:24;4.216\n06/12/2006;17:25;5.360\n", proposal{refused: `t.csv:2: column Date: the day or the month may be first in all values, such as "06/12/2006"; say which with own.time-format, as in --time-column 'Date, Time' --time-format '2/1/2006 15:04', or --time-format '1/2/2006 15:04'`}},
		"said": {american, proposal{settings: []string{"time=Date", "time-format=01/02/2006 15:04"}, want: map[string]string{"time": "Date", "tags": "Symbol", "fields": "Price:float", "time-format": "01/02/2006 15:04"},
			facts: []string{"times from 2024-01-02T15:04:00Z to 2024-01-13T15:05:00Z", "2 times have no zone, and are taken as UTC"}}},
		"said, and found":  {american, proposal{settings: []string{"time-format=01/02/2006 15:04"}, want: map[string]string{"time": "Date", "tags": "Symbol", "fields": "Price:float"}}},
		"said wrongly":     {american, proposal{settings: []string{"time=Date", "time-format=02/01/2006 15:04"}, refused: `t.csv:3: column Date: "01/13/2024 15:05" is not a time as 02/01/2006 15:04; correct the line, or say with own.time-format how times are written`}},
		"two units":        {"time,v\n1704067200,1\n1704067201000,1\n", proposal{refused: "times of column time look like s and like ms: they go from 1704067200 to 1704067201000; say which with own.time-format"}},
		"no unit":          {"time,v\n17,1\n18,1\n", proposal{refused: "column time of t.csv has numbers from 17 to 18, which are not times from 1980 to 2100"}},
		"a unit":           {"time,v\n17,1\n18,1\n", proposal{settings: []string{"time=time", "time-format=s"}, facts: []string{"times from 1970-01-01T00:00:17Z to 1970-01-01T00:00:18Z"}}},
		"decimals":         {"ts,v\n1704067200.25,1.5\n1704067200.5,1.5\n", proposal{want: map[string]string{"time": "ts", "time-format": "s"}, facts: []string{"times from 2024-01-01T00:00:00.25Z to 2024-01-01T00:00:00.5Z"}}},
		"decimals of ms":   {"ts,v\n1704067200000.25,1.5\n1704067200001,1.5\n", proposal{want: map[string]string{"time": "ts", "time-format": "ms"}, facts: []string{"times from 2024-01-01T00:00:00.00025Z"}}},
		"by size alone":    {"a,b\n1704067200,1.5\n", proposal{want: map[string]string{"time": "a"}, facts: []string{"column a is taken for the time, since its numbers look like times since 1970"}}},
		"no header":        {"1704067200,42000.0,0.1\n1704067201,42001.0,0.2\n", proposal{refused: `t.csv:1: the header looks like a row, and would be lost: "1704067200,42000.0,0.1"; name the columns with own.columns, as in --columns time,price`}},
		"no header, names": {"1704067200,h1,0.1\n1704067201,h2,0.2\n", proposal{refused: `t.csv:1: the header looks like a row, and would be lost: "1704067200"`}},
		"no header, times": {"2024-01-01 00:00:00,5\n2024-01-01 00:00:01,6\n", proposal{refused: `t.csv:1: the header looks like a row`}},
		"no header, all said": {"1704067200,42000.0\n1704067201,42001.0\n", proposal{
			settings: []string{"time=1704067200", "time-format=s", "table=t", "tags=none", "fields=42000.0:float"}, refused: `t.csv:1: the header looks like a row`,
		}},
		"columns": {"1704067200,42000.0\n1704067201,42001.0\n", proposal{settings: []string{"columns=time,price"}, want: map[string]string{"fields": "price:float"}, facts: []string{"times from 2024-01-01T00:00:00Z"}}},
		"years":   {"station,time,2019\na,2024-01-01,1\n", proposal{want: map[string]string{"tags": "station", "fields": "2019:int"}}},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, write(t, "t.csv", c.text)) })
	}
}

// A column or a table that no file has is refused, whoever says what; tags that are left
// out are found though fields are given.
func TestUnknownColumns(t *testing.T) {
	trips := "pickup,vendor,fare,tip\n2024-01-01,a,1.5,1\n2024-01-02,b,1.5,1\n"
	complete := func(more ...string) []string {
		return append([]string{"time=pickup", "time-format=rfc3339", "table=t", "delimiter=,"}, more...)
	}
	lines := "cpu,host=a user=1.5,sys=2 1704067200\nmem,host=a used=1i 1704067200\n"
	for name, c := range map[string]struct {
		file, text string
		proposal
	}{
		"field":            {"t.csv", trips, proposal{settings: []string{"fields=far:float"}, refused: `no file has a column "far"; did you mean "fare"`}},
		"field, complete":  {"t.csv", trips, proposal{settings: complete("tags=vendor", "fields=far:float"), refused: `no file has a column "far"; did you mean "fare"`}},
		"tag":              {"t.csv", trips, proposal{settings: []string{"tags=vendr"}, refused: `no file has a column "vendr"; did you mean "vendor"`}},
		"tag, complete":    {"t.csv", trips, proposal{settings: complete("tags=vendr", "fields=fare:float"), refused: `no file has a column "vendr"; did you mean "vendor"`}},
		"time":             {"t.csv", trips, proposal{settings: []string{"time=pikup"}, refused: `table t has no column "pikup" with times; did you mean "pickup"`}},
		"time, complete":   {"t.csv", trips, proposal{settings: []string{"time=pikup", "time-format=rfc3339", "table=t", "tags=none", "fields=fare:float"}, refused: `no file has a column "pikup"; did you mean "pickup"`}},
		"far off":          {"t.csv", trips, proposal{settings: []string{"fields=temperature:float"}, refused: `no file has a column "temperature"; there are pickup, vendor, fare, tip`}},
		"tags left out":    {"t.csv", trips, proposal{settings: []string{"fields=fare:float"}, want: map[string]string{"tags": "vendor", "fields": "fare:float"}, quiet: true}},
		"complete without": {"t.csv", trips, proposal{settings: complete("fields=fare:float"), want: map[string]string{"tags": "vendor", "fields": "fare:float"}}},
		"no tags":          {"t.csv", trips, proposal{settings: []string{"fields=fare:float", "tags=none"}, want: map[string]string{"tags": "", "fields": "fare:float"}, facts: []string{"1 series"}}},
		"a tag none":       {"t.csv", strings.ReplaceAll(trips, "vendor", "none"), proposal{settings: []string{`tags="none"`}, want: map[string]string{"tags": `"none"`}, facts: []string{"2 series"}}},
		"fields left out":  {"t.csv", trips, proposal{settings: []string{"tags=tip"}, want: map[string]string{"tags": "tip", "fields": "vendor:text1, fare:float"}}},

		"measurement":            {"t.lp", lines, proposal{settings: []string{"fields=cpuu(user:float)"}, refused: `no file has a table "cpuu"; did you mean "cpu"`}},
		"measurement, complete":  {"t.lp", lines, proposal{settings: []string{"time-format=s", "tags=cpuu(host)", "fields=cpuu(user:float)", "content=x"}, refused: `no file has a table "cpuu"; did you mean "cpu"`}},
		"another, complete":      {"t.lp", lines, proposal{settings: []string{"time-format=s", "tags=cpu(host), dsk(host)", "fields=cpu(user:float), dsk(used:int)"}, refused: `no file has a table "dsk"; there are cpu, mem`}},
		"line's field":           {"t.lp", lines, proposal{settings: []string{"fields=cpu(usr:float)"}, refused: `no file has a column "usr"; did you mean "user"`}},
		"line's field, complete": {"t.lp", lines, proposal{settings: []string{"time-format=s", "tags=cpu(host)", "fields=cpu(user:float, syss:float)"}, refused: `no file has a column "syss"; did you mean "sys"`}},
		"line's tag":             {"t.lp", lines, proposal{settings: []string{"tags=cpu(hst)", "fields=cpu(user:float)"}, refused: `no file has a column "hst"; did you mean "host"`}},
		"line's tag, complete":   {"t.lp", lines, proposal{settings: []string{"time-format=s", "tags=cpu(hst)", "fields=cpu(user:float)"}, refused: `no file has a column "hst"; did you mean "host"`}},
		"tag for a field":        {"t.lp", lines, proposal{settings: []string{"fields=cpu(host:text)"}, refused: `the lines of table cpu have "host" as a tag where fields name it, or the other way round`}},
		"without a table":        {"t.lp", lines, proposal{settings: []string{"fields=user:float"}, refused: "the files have several tables, cpu, mem: write the fields of each in brackets, as in cpu(user:float)"}},
		"tags without a table":   {"t.lp", lines, proposal{settings: []string{"tags=host"}, refused: "the files have several tables, cpu, mem: write the tags of each in brackets, as in cpu(host)"}},
		"one measurement": {"t.lp", lines, proposal{settings: []string{"table=cpu"}, want: map[string]string{"table": "cpu", "tags": "host", "fields": "user:float, sys:float"},
			facts: []string{"1 rows of measurements that own.fields and own.table do not name are left out"}}},
		"none such":       {"t.lp", lines, proposal{settings: []string{"table=cpus"}, refused: `no file has a measurement "cpus"; did you mean "cpu"`}},
		"tags of lines":   {"t.lp", lines, proposal{settings: []string{"fields=cpu(user:float)"}, want: map[string]string{"tags": "cpu(host)", "fields": "cpu(user:float)"}}},
		"numbers, a text": {"t.lp", "m v=1.5 1704067200\nm v=\"x\" 1704067201\nm v=2 1704067202\n", proposal{want: map[string]string{"fields": "v:text"}, facts: []string{`column v is float but for 1 of 3 values, "x" in t.lp:2`}}},
		"numbers, truth":  {"t.lp", "m v=1.5 1704067200\nm v=t 1704067201\nm v=2 1704067202\n", proposal{want: map[string]string{"fields": "v:text"}, facts: []string{"column v is float in t.lp:1 and bool in t.lp:2, so it is a text"}}},
		"too large":       {"t.lp", "m v=1i 1704067200\nm v=18446744073709551615u 1704067201\n", proposal{want: map[string]string{"fields": "v:float"}, facts: []string{"column v is float, which rounds 18446744073709551615 in t.lp:2"}}},
		"no whole number": {"t.lp", "m v=1i 1704067200\nm v=1xi 1704067201\n", proposal{refused: `t.lp:2: column v: "1xi" is not an integer; correct the line`}},
		"bytes of a tag":  {"t.lp", "m,h=Z\xfc v=1i 1704067200\n", proposal{want: map[string]string{"tags": "", "fields": "v:int"}, facts: []string{`column h is left out: "Z\xfc" in t.lp:1 is not valid UTF-8`}}},
		"bytes, named":    {"t.csv", "time,h,v\n2024-01-01,a,1\n2024-01-01,Z\xfc,1\n", proposal{settings: []string{"tags=h"}, refused: `t.csv:3: column h: "Z\xfc" is not valid UTF-8; give the encoding of the file (own.encoding, --encoding), such as windows-1252 or latin1, or leave the column out of tags`}},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, write(t, c.file, c.text)) })
	}
}

// InfluxDB's sample, a .txt file, begins with the statements that create its database.
func TestStatements(t *testing.T) {
	sample := "# DDL\nCREATE DATABASE NOAA_water_database\n\n# DML\n# CONTEXT-DATABASE: NOAA_water_database\n\nh2o,location=a level=8.12 1566000000\nh2o,location=b level=2.064 1566000000\n"
	for name, c := range map[string]struct {
		file, text string
		proposal
	}{
		"sample":  {"t.txt", sample, proposal{want: map[string]string{"format": "influx", "table": "h2o", "tags": "location", "fields": "level:float", "time-format": "s"}, facts: []string{"2 series"}}},
		"no name": {"t", sample, proposal{want: map[string]string{"format": "influx"}}},
		"no end":  {"t.lp", strings.ReplaceAll(sample, "# DML\n", ""), proposal{refused: "t.lp:8: the statements behind # DDL do not end: no line # DML follows"}},
		"late":    {"t.lp", "m v=1 1566000000\n# DDL\nm v=2 1566000001\n", proposal{facts: []string{"times from 2019-08-17T00:00:00Z to 2019-08-17T00:00:01Z"}}},
		"no DDL":  {"t.lp", "CREATE DATABASE x\nm v=1 1566000000\n", proposal{refused: `t.lp:1: "DATABASE" is not key=value; correct the line, or give the format that it has`}},
		"a table": {"t.txt", "time\tv\n2024-01-01\t1\n", proposal{want: map[string]string{"format": "csv", "delimiter": "tab", "fields": "v:int"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no end" {
				c.refused = strings.Replace(c.refused, ":8", fmt.Sprint(":", strings.Count(c.text, "\n")+1), 1)
			}
			c.check(t, write(t, c.file, c.text))
		})
	}
}

// recordsFile writes record batches of one column beside a time and a number, as Parquet
// or Arrow.
func recordsFile(t testing.TB, format string, of arrow.DataType, build func(array.Builder)) string {
	t.Helper()
	fields := []arrow.Field{{Name: "time", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: of, Nullable: true}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	build(b.Field(2))
	for i := range b.Field(2).Len() {
		b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(1704067200000 + i))
		b.Field(1).(*array.Int64Builder).Append(1)
	}
	batch := b.NewRecordBatch()
	path := filepath.Join(t.TempDir(), "t."+format)
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	if format == "parquet" {
		w, err = pqarrow.NewFileWriter(batch.Schema(), out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	} else {
		w, err = ipc.NewFileWriter(out, ipc.WithSchema(batch.Schema()))
	}
	if err == nil {
		err = w.Write(batch)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Columns of Parquet and Arrow are read as they are written, or refused, or left out and
// named.
func TestRecordTypes(t *testing.T) {
	const second = 1704067200
	asTime := []string{"time=x"}
	utc := &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}
	day := arrow.Date64(19723 * 24 * 3600 * 1000) // 2024-01-01
	for name, c := range map[string]struct {
		of    arrow.DataType
		build func(array.Builder)
		proposal
		first string // what the first row has of x
		arrow bool   // Parquet has no such type
	}{
		"uint64 ms":    {of: arrow.PrimitiveTypes.Uint64, build: func(b array.Builder) { b.(*array.Uint64Builder).Append(second * 1000) }, proposal: proposal{settings: asTime, want: map[string]string{"time-format": "ms"}, facts: []string{"times from 2024-01-01T00:00:00Z"}}},
		"uint32 s":     {of: arrow.PrimitiveTypes.Uint32, build: func(b array.Builder) { b.(*array.Uint32Builder).Append(second) }, proposal: proposal{settings: asTime, want: map[string]string{"time-format": "s"}, facts: []string{"times from 2024-01-01T00:00:00Z"}}},
		"int32 s":      {of: arrow.PrimitiveTypes.Int32, build: func(b array.Builder) { b.(*array.Int32Builder).Append(second) }, proposal: proposal{settings: asTime, want: map[string]string{"time-format": "s"}, facts: []string{"times from 2024-01-01T00:00:00Z"}}},
		"int64 us":     {of: arrow.PrimitiveTypes.Int64, build: func(b array.Builder) { b.(*array.Int64Builder).Append(second * 1e6) }, proposal: proposal{settings: asTime, want: map[string]string{"time-format": "us"}, facts: []string{"times from 2024-01-01T00:00:00Z"}}},
		"float64 s":    {of: arrow.PrimitiveTypes.Float64, build: func(b array.Builder) { b.(*array.Float64Builder).Append(second + 0.1) }, proposal: proposal{settings: asTime, want: map[string]string{"time-format": "s"}, facts: []string{"times from 2024-01-01T00:00:00.1Z"}}},
		"float64 said": {of: arrow.PrimitiveTypes.Float64, build: func(b array.Builder) { b.(*array.Float64Builder).Append(second) }, proposal: proposal{settings: []string{"time=x", "time-format=s"}, facts: []string{"times from 2024-01-01T00:00:00Z"}}},
		"float64 NaN": {of: arrow.PrimitiveTypes.Float64, build: func(b array.Builder) {
			b.(*array.Float64Builder).Append(second)
			b.(*array.Float64Builder).Append(math.NaN())
		}, proposal: proposal{settings: asTime, refused: `t.FORMAT:row group 0:row 1: column x: "NaN" is not a number of s since 1970`}},
		"null time": {of: arrow.PrimitiveTypes.Int64, build: func(b array.Builder) {
			b.(*array.Int64Builder).Append(second)
			b.AppendNull()
		}, proposal: proposal{settings: asTime, refused: `t.FORMAT:row group 0:row 1: the row has no time in column x`}},
		"date":      {of: arrow.FixedWidthTypes.Date32, build: func(b array.Builder) { b.(*array.Date32Builder).Append(19723) }, proposal: proposal{settings: asTime, facts: []string{"times from 2024-01-01T00:00:00Z"}}},
		"date64":    {of: arrow.FixedWidthTypes.Date64, build: func(b array.Builder) { b.(*array.Date64Builder).Append(day) }, proposal: proposal{settings: []string{"time=time"}, want: map[string]string{"fields": "n:int, x:date"}}, first: "x=19723"},
		"no values": {of: arrow.PrimitiveTypes.Int64, build: func(b array.Builder) { b.AppendNull() }, proposal: proposal{settings: asTime, refused: "column x of table t has no values; it has time, n, x"}},
		"uint64": {of: arrow.PrimitiveTypes.Uint64, build: func(b array.Builder) {
			b.(*array.Uint64Builder).Append(3)
			b.(*array.Uint64Builder).Append(math.MaxUint64)
		}, proposal: proposal{want: map[string]string{"fields": "n:int, x:float"}, facts: []string{"column x is float, which rounds 18446744073709551615 in t.FORMAT:row group 0:row 1"}}, first: "x=3"},
		"uint64 as int": {of: arrow.PrimitiveTypes.Uint64, build: func(b array.Builder) {
			b.(*array.Uint64Builder).Append(3)
			b.(*array.Uint64Builder).Append(math.MaxUint64)
		}, proposal: proposal{settings: []string{"fields=x:int"}, refused: "t.FORMAT:row group 0:row 1: column x: 18446744073709551615 is more than 64 bits with a sign hold; write x:float in fields"}},
		"far timestamp": {of: utc, build: func(b array.Builder) {
			b.(*array.TimestampBuilder).Append(second)
			b.(*array.TimestampBuilder).Append(253402214400)
		}, proposal: proposal{settings: []string{"time=time"}, refused: "t.FORMAT:row group 0:row 1: column x: 9999-12-31"}},
		"timestamp": {of: utc, build: func(b array.Builder) { b.(*array.TimestampBuilder).Append(second) }, proposal: proposal{settings: []string{"time=time"}, want: map[string]string{"fields": "n:int, x:timestamp"}}, first: "x=1704067200000000000"},
		"decimal":   {of: &arrow.Decimal128Type{Precision: 9, Scale: 1}, build: func(b array.Builder) { b.(*array.Decimal128Builder).Append(decimal128.FromI64(3)) }, proposal: proposal{want: map[string]string{"fields": "n:int, x:float"}, quiet: true}, first: "x=0.3"},
		"negative decimal": {of: &arrow.Decimal128Type{Precision: 38, Scale: 20}, build: func(b array.Builder) {
			v, err := decimal128.FromString("-123456789012345678.12345678901234567890", 38, 20)
			if err != nil {
				panic(err)
			}
			b.(*array.Decimal128Builder).Append(v)
		}, proposal: proposal{facts: []string{"column x has decimals of 38 digits and is float, which keeps 15 to 17"}}, first: "x=-1.2345678901234568e+17"},
		"large decimal": {of: &arrow.Decimal256Type{Precision: 40, Scale: 1}, build: func(b array.Builder) { b.(*array.Decimal256Builder).Append(decimal256.FromI64(-7)) }, proposal: proposal{want: map[string]string{"fields": "n:int, x:float"}}, first: "x=-0.7"},
		"bytes":         {of: arrow.BinaryTypes.Binary, build: func(b array.Builder) { b.(*array.BinaryBuilder).Append([]byte{0xff, 0}) }, proposal: proposal{want: map[string]string{"tags": "", "fields": "n:int"}, facts: []string{`column x is left out: "\xff\x00" in t.FORMAT:row group 0:row 0 is not valid UTF-8`}}},
		"texts":         {of: arrow.BinaryTypes.LargeString, build: func(b array.Builder) { b.(*array.LargeStringBuilder).Append("a") }, proposal: proposal{want: map[string]string{"tags": "x"}}},
		"views":         {of: arrow.BinaryTypes.StringView, build: func(b array.Builder) { b.(*array.StringViewBuilder).Append("a text that is longer than a view") }, proposal: proposal{want: map[string]string{"tags": "x"}}, arrow: true},
		"time of day":   {of: arrow.FixedWidthTypes.Time32ms, build: func(b array.Builder) { b.(*array.Time32Builder).Append(7) }, proposal: proposal{want: map[string]string{"fields": "n:int"}, facts: []string{"column x is left out: its type time32[ms] in t.FORMAT cannot be loaded"}}},
		"uuid":          {of: extensions.NewUUIDType(), build: func(b array.Builder) { b.(*extensions.UUIDBuilder).AppendBytes([16]byte{1}) }, proposal: proposal{want: map[string]string{"fields": "n:int"}, facts: []string{"column x is left out: its type "}}},
		"named":         {of: arrow.FixedWidthTypes.Time32ms, build: func(b array.Builder) { b.(*array.Time32Builder).Append(7) }, proposal: proposal{settings: []string{"fields=x:int"}, refused: "t.FORMAT: column x has type time32[ms], which cannot be loaded; leave it out of time, tags and fields"}},
		"named as tag":  {of: arrow.FixedWidthTypes.Time32ms, build: func(b array.Builder) { b.(*array.Time32Builder).Append(7) }, proposal: proposal{settings: []string{"tags=x"}, refused: "t.FORMAT: column x has type time32[ms]"}},
		"list": {of: arrow.ListOf(arrow.PrimitiveTypes.Int64), build: func(b array.Builder) {
			b.(*array.ListBuilder).Append(true)
			b.(*array.ListBuilder).ValueBuilder().(*array.Int64Builder).Append(1)
		}, proposal: proposal{want: map[string]string{"fields": "n:int"}, facts: []string{"column x is left out: its type list<"}}},
		"named list": {of: arrow.ListOf(arrow.PrimitiveTypes.Int64), build: func(b array.Builder) {
			b.(*array.ListBuilder).Append(true)
			b.(*array.ListBuilder).ValueBuilder().(*array.Int64Builder).Append(1)
		}, proposal: proposal{settings: []string{"fields=x:int"}, refused: "t.FORMAT: column x has type list<"}},
		"numbers of a dictionary": {of: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}, build: func(b array.Builder) {
			if err := b.(*array.Int64DictionaryBuilder).Append(1); err != nil {
				panic(err)
			}
		}, proposal: proposal{facts: []string{"column x is left out: its type dictionary<"}}, arrow: true},
	} {
		for _, format := range []string{"parquet", "arrow"} {
			if c.arrow && format == "parquet" {
				continue
			}
			t.Run(name+" "+format, func(t *testing.T) {
				p := c.proposal
				p.refused = strings.ReplaceAll(p.refused, "FORMAT", format)
				p.facts = nil
				for _, fact := range c.facts {
					p.facts = append(p.facts, strings.ReplaceAll(fact, "FORMAT", format))
				}
				path := recordsFile(t, format, c.of, c.build)
				if p.check(t, path); c.first != "" {
					if rows := read(t, openOwn(t, append([]string{"files=" + path}, p.settings...)...)); !strings.HasSuffix(rows[0], " "+c.first) {
						t.Errorf("the first row is %s, want %s", rows[0], c.first)
					}
				}
			})
		}
	}
}

// A column that has texts in one file and numbers in another is named.
func TestTypesOfFilesDiffer(t *testing.T) {
	a := recordsFile(t, "parquet", arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil) })
	b := recordsFile(t, "parquet", arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).AppendValues([]string{"x", "y"}, nil) })
	found, err := inspect(t, "files="+a+", "+b)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("column x is int in %s and text in %s, so it is a text; write one type for all values, or leave the column out of fields", a, b)
	if facts := strings.Join(found.Facts, "\n"); found.Spec.Settings["own.fields"] != "n:int, x:text" || !strings.Contains(facts, want) {
		t.Errorf("fields %s, facts\n%s\nwant %s", found.Spec.Settings["own.fields"], facts, want)
	}
	wantStrings(t, read(t, openOwn(t, "files="+a+", "+b))[2:4], "t 2024-01-01T00:00:00.002Z n=1 x=3", "t 2024-01-01T00:00:00Z n=1 x=x")
}

// What an experiment says of rows is told once: when it was proposed.
func TestNotes(t *testing.T) {
	path := write(t, "t.csv", rowsOf("time,host,v", 50, func(i int) string { return map[bool]string{true: "h,NA", false: "h,1"}[i == 9] }))
	spec := workload.Spec{Name: "own", Settings: workload.Settings{"own.files": path}}
	w := newOwn()
	pinned, err := w.Survey(t.Context(), spec, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(w.Notes(pinned), "\n"); !strings.Contains(notes, `column v is int but for 1 of 50 values, "NA"`) {
		t.Errorf("notes are %s", notes)
	}
	w = newOwn()
	if _, err := w.Survey(t.Context(), pinned, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if notes := w.Notes(pinned); len(notes) > 0 {
		t.Errorf("notes are %q", notes)
	}
}

func newOwn() workload.Surveyed { return owndata.Workload(duckdb.Library()).(workload.Surveyed) }

// Times and tags of Parquet that are numbers are worth no allocation a row either.
func TestNumbersOfRecordsAllocateNothing(t *testing.T) {
	const rows = 20_000
	for name, path := range map[string]string{
		"uint64": recordsFile(t, "parquet", arrow.PrimitiveTypes.Uint64, func(b array.Builder) {
			for i := range rows {
				b.(*array.Uint64Builder).Append(1704067200000 + uint64(i))
			}
		}),
		"float64": recordsFile(t, "parquet", arrow.PrimitiveTypes.Float64, func(b array.Builder) {
			for i := range rows {
				b.(*array.Float64Builder).Append(1704067200 + float64(i)/4)
			}
		}),
		"date32": recordsFile(t, "parquet", arrow.FixedWidthTypes.Date32, func(b array.Builder) {
			for i := range rows {
				b.(*array.Date32Builder).Append(arrow.Date32(i))
			}
		}),
	} {
		d := openOwn(t, "files="+path, "time=x")
		var batch series.Batch
		pass(t, d, &batch)
		if n := testing.AllocsPerRun(2, func() { pass(t, d, &batch) }); n > rows/5 {
			t.Errorf("%s: %v allocations for %d rows", name, n, rows)
		}
	}
}
