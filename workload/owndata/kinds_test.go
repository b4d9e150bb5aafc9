package owndata_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// kind is a file, its proposal and its rows.
type kind struct {
	file, text string
	proposal
	rows []string // nil: not compared
}

func checkKinds(t *testing.T, kinds map[string]kind) {
	t.Helper()
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			path := write(t, k.file, k.text)
			k.check(t, path)
			if k.rows != nil {
				wantStrings(t, read(t, openOwn(t, append([]string{"files=" + strconv.Quote(path)}, k.settings...)...)), k.rows...)
			}
		})
	}
}

// Lines that InfluxDB refuses are refused with their number.
func TestLinesRefused(t *testing.T) {
	const good = "m,host=a v=1i 1700000000000000000\n"
	for line, want := range map[string]string{
		`m,path=C:\\,host=a v=1i 17`:          `the value "C:\\\\,host=a" of tag path has an equals sign without a backslash before it`,
		`m,a=b=c v=1i 17`:                     `the value "b=c" of tag a has an equals sign`,
		`m,a==c v=1i 17`:                      `the value "=c" of tag a has an equals sign`,
		`m,a=1,b=2,a=3 v=1i 17`:               `the line has tag a twice`,
		`m,a=1 v=1i,w=2i,v=3i 17`:             `the line has field v twice`,
		`,a=1 v=1i 17`:                        `the line has no measurement`,
		`m,a=C:\ v=1i 17`:                     `the line has no fields behind its tags; note that a backslash before a blank escapes the blank`,
		`m v=1i 1.5`:                          `the time "1.5" is not an integer of 64 bits`,
		`m,a=1,b v=1i 17`:                     `"b" is not key=value`,
		`m,a,b=1 v=1i 17`:                     `"a" is not key=value`,
		`m,a="x,y" v=1i 17`:                   `"y\"" is not key=value`,
		`m,a= v=1i 17`:                        `tag a has no value`,
		`m,=1 v=1i 17`:                        `"=1" is not key=value`,
		`m,a=1, v=1i 17`:                      `a comma has nothing behind it`,
		`m,a=1 v=1i,w 17`:                     `"w" is not key=value`,
		`m,a=1 w,v=1i 17`:                     `"w,v=1i" is not key=value`,
		`m,a=1 v=1i, 17`:                      `a comma has nothing behind it`,
		`m,a=1 v= 17`:                         `v has no value`,
		`m,a=1 v=nan 17`:                      `column v: "nan" is not a number`,
		`m,a=1 v=abc 17`:                      `column v: "abc" is not a number`,
		`m,a=1 v=tru 17`:                      `column v: "tru" is not a number, a boolean`,
		`m,a=1 v=+1.5 17`:                     `column v: "+1.5" begins with a plus sign`,
		`m,a=1 v=+5i 17`:                      `column v: "+5i" is not an integer`,
		`m,a=1 v=1.5i 17`:                     `column v: "1.5i" is not an integer`,
		`m,a=1 v=-5u 17`:                      `column v: -5u is outside the range of that suffix`,
		`m,a=1 v=9223372036854775808i 17`:     `column v: 9223372036854775808i is outside the range`,
		`m,a=1 v=18446744073709551616u 17`:    `column v: 18446744073709551616u is outside the range`,
		`m,a=1 v=0x10 17`:                     `column v: "0x10" is not a number`,
		`m,a=1 v=1e400 17`:                    `column v: "1e400" is not a number`,
		`m,a=1 v="x"y 17`:                     `the text of v is not closed`,
		`m,a=1 v=1i 1.5`:                      `the time "1.5" is not an integer`,
		`m,a=1 v=1i 17 18`:                    `the time "17 18" is not an integer`,
		`m,a=1 v=1i`:                          `the row has no time`,
		`m,a=1`:                               `the line has no blank behind its measurement`,
		"m,t\xe9=x v=1i 17":                   `the name of column "t\xe9" is not valid UTF-8; give the encoding of the file`,
		"m\xe9,t=x v=1i 17":                   `the name of measurement "m\xe9" is not valid UTF-8; give the encoding of the file`,
		"m,t=x v=1i,\xe9=2 17":                `the name of column "\xe9" is not valid UTF-8; give the encoding of the file`,
		"m,t=x " + fields(10_001) + " 17":     "table m has more than 10000 columns",
		"m," + tags(10_001, "") + " v=1i 17":  "table m has more than 10000 columns",
		"m," + tags(100, ",t7=x") + " v=1 17": "the line has tag t7 twice",
	} {
		proposal{refused: "t.lp:2: " + want}.check(t, write(t, "t.lp", good+line+"\n"))
	}
	// The pass that loads refuses what concerns the columns that it reads, without a proposal.
	settings := []string{"format=influx", "tags=m(a)", "fields=m(v:float)", "time-format=ns"}
	for line, want := range map[string]string{
		`m,a=b=c v=1i 17`:                `the value "b=c" of tag a`,
		`m,a=1,a=3 v=1i 17`:              `the line has tag a twice`,
		`m,a=1 v=1i,v=3i 17`:             `the line has field v twice`,
		`m,a=1 v=nan 17`:                 `column v: "nan" is not of type float`,
		`m,a=1 v=9223372036854775808i 1`: `column v: 9223372036854775808i is outside the range`,
	} {
		proposal{settings: settings, refused: "t.lp:2: " + want}.check(t, write(t, "t.lp", "m,a=1 v=1 17\n"+line+"\n"))
	}
}

func fields(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, ",v%d=1", i)
	}
	return text.String()[1:]
}

func tags(n int, more string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, ",t%d=1", i)
	}
	return text.String()[1:] + more
}

// Fields and tags of line protocol whose name is another's are left out by name, and the
// unit of times is that of the lines' own.
func TestNamesOfLines(t *testing.T) {
	const end = " 1738079263000000000\n"
	checkKinds(t, map[string]kind{
		"a field named as a tag": {"t.lp", `m,host=s,port=eth0 port="up",v=10i` + end, proposal{
			want:  map[string]string{"tags": "host, port", "fields": "v:int"},
			facts: []string{"field port of table m is left out: a tag has its name; rename one of them in the file, or add port:text2 to fields"},
		}, []string{"m host=s port=eth0 2025-01-28T15:47:43Z v=10"}},
		"both by name": {"t.lp", `m,host=s,port=eth0 port="up",v=10i` + end, proposal{
			settings: []string{"fields=port:text, v:int", "tags=host, port"}, want: map[string]string{"tags": "host, port", "fields": "port:text, v:int"}, quiet: true,
		}, []string{"m host=s port=eth0 2025-01-28T15:47:43Z port=up v=10"}},
		"an equals sign":   {"t.lp", `m\=x\,y,ho\=st=a\=b v\=1=1i` + end, proposal{quiet: true}, []string{`m\=x,y ho=st=a=b 2025-01-28T15:47:43Z v=1=1`}},
		"in another table": {"t.lp", `m,port=a v=1i` + end + `n,host=a port=2i` + end, proposal{want: map[string]string{"tags": "m(port), n(host)", "fields": "m(v:int), n(port:int)"}, quiet: true}, nil},
		"a field time of integers": {"t.lp", "m,host=a v=1u,time=16924971591000u" + end, proposal{
			want: map[string]string{"time-format": "ns", "tags": "host", "fields": "v:int"}, facts: []string{"field time of table m is left out: the time of rows has its name"},
		}, []string{"m host=a 2025-01-28T15:47:43Z v=1"}},
		"a field time of texts": {"t.lp", `m,host=a v=1i,time="noon"` + end, proposal{want: map[string]string{"fields": "v:int"}, facts: []string{"field time of table m is left out"}}, nil},
		"a tag time":            {"t.lp", `m,host=a,time=noon v=1i` + end, proposal{want: map[string]string{"tags": "host"}, facts: []string{"tag time of table m is left out"}}, []string{"m host=a 2025-01-28T15:47:43Z v=1"}},
		"time by name":          {"t.lp", `m,host=a v=1i,time=2i` + end, proposal{settings: []string{"fields=time:int"}, refused: "column time is the time, and a tag or field of table m besides"}, nil},
		"time alone":            {"t.lp", `m,host=a time=2i` + end, proposal{refused: "table m has no column that can be a field; fields are numbers, truth values, times, and texts of at most 65535 bytes of UTF-8 that are not tags; field time of table m is left out"}, nil},
		"another time":          {"t.lp", `m,host=a v=1i` + end, proposal{settings: []string{"time=v"}, refused: "names a column, and line protocol has the time of a row at the end of its line"}, nil},
	})
}

// Numbers outside 1980 to 2100 are times only where their unit is given.
func TestUnitIsNotGuessed(t *testing.T) {
	lines := func(times ...string) string { return "m v=1i " + strings.Join(times, "\nm v=1i ") + "\n" }
	checkKinds(t, map[string]kind{
		"an hour before 1970":  {"t.lp", lines("-3600000000000", "-1800000000000", "0"), proposal{refused: "column time of table m has numbers from -3600000000000 to 0, which are not times from 1980 to 2100 in any unit; say which unit"}, nil},
		"around 0":             {"t.lp", lines("-1", "0", "1"), proposal{refused: "column time of table m has numbers from -1 to 1"}, nil},
		"nanoseconds of 1972":  {"t.lp", lines("70000000000000000"), proposal{refused: "column time of table m has numbers from 70000000000000000"}, nil},
		"negative as given":    {"t.lp", lines("-1", "0"), proposal{settings: []string{"time-format=ns"}}, []string{"m 1969-12-31T23:59:59.999999999Z v=1", "m 1970-01-01T00:00:00Z v=1"}},
		"a named column":       {"t.csv", "t,v\n-1,1\n1,1\n", proposal{settings: []string{"time=t"}, refused: "column t of table t has numbers from -1 to 1"}, nil},
		"a named member":       {"t.ndjson", "{\"t\":5,\"v\":1}\n", proposal{settings: []string{"time=t"}, refused: "column t of table t has numbers from 5 to 5"}, nil},
		"a named column, unit": {"t.csv", "t,v\n-1,1\n1,1\n", proposal{settings: []string{"time=t", "time-format=s"}}, []string{"t 1969-12-31T23:59:59Z v=1", "t 1970-01-01T00:00:01Z v=1"}},
	})
}

// A column of floats stays one, however NaN and infinities are written.
func TestNotFinite(t *testing.T) {
	for _, text := range []string{"nan", "NAN", "NaN", "-nan", "inf", "-inf", "+Inf", "INF", "Infinity", "-infinity", "1.#QNAN", "-1.#IND", "1.#INF", "-nan(ind)"} {
		at := func(i int) string {
			if i%3 == 0 {
				return text
			}
			return fmt.Sprintf("20.%d", i%7)
		}
		want := map[string]string{"tags": "room", "fields": "temp:float"}
		proposal{want: want, quiet: true}.check(t, write(t, "t.csv", rowsOf("time,room,temp", 60, func(i int) string { return "r," + at(i) })))
		var lines strings.Builder
		for i := range 60 {
			value := at(i)
			if i%3 == 0 {
				value = `"` + value + `"`
			}
			fmt.Fprintf(&lines, `{"time":%d,"room":"r","temp":%s}`+"\n", 1704067200+i, value)
		}
		proposal{want: want, quiet: true}.check(t, write(t, "t.ndjson", lines.String()))
	}
	wantStrings(t, read(t, openOwn(t, "files="+write(t, "t.csv", "time,v\n2024-01-01,nan\n2024-01-02,-INF\n2024-01-03,1.5\n"))), "t 2024-01-01T00:00:00Z v=NaN", "t 2024-01-02T00:00:00Z v=-Inf", "t 2024-01-03T00:00:00Z v=1.5")
	third := func(odd, other string) func(int) string {
		return func(i int) string { return map[bool]string{true: odd, false: other}[i%3 == 0] }
	}
	checkKinds(t, map[string]kind{
		"an error of Excel": {"t.csv", rowsOf("time,temp", 60, third("#DIV/0!", "1.5")), proposal{want: map[string]string{"fields": "temp:text"}, facts: []string{`column temp is float but for 20 of 60 values, the first is "#DIV/0!" in t.csv:2, so it is a text; --null '#DIV/0!' (own.null)`}}, nil},
		"dashes":            {"t.csv", rowsOf("time,temp", 60, third("---", "1.5")), proposal{want: map[string]string{"fields": "temp:text"}, facts: []string{`column temp is float but for 20 of 60 values`}}, nil},
		"other words":       {"t.csv", rowsOf("time,temp,v", 60, third("off,1", "1.5,1")), proposal{want: map[string]string{"tags": "", "fields": "v:int, temp:text"}, facts: []string{"column temp changes within a series, so it is a text field and not a tag"}}, nil},
		"words of JSON":     {"t.ndjson", `{"time":1704067200,"v":1,"x":1}` + "\n" + `{"time":1704067201,"v":1.5,"x":1}` + "\n" + `{"time":1704067202,"v":"x","x":1}` + "\n" + `{"time":1704067203,"v":true,"x":1}` + "\n", proposal{facts: []string{`column v is taken for a tag, though 2 of 4 values are numbers; the first other value is "x" in t.ndjson:3`}}, nil},
		"not in lines":      {"t.lp", "m v=nan 1700000000\n", proposal{refused: `t.lp:1: column v: "nan" is not a number`}, nil},
	})
}

// A date and the time of day in two columns make the time, or are said to be such.
func TestTimeInTwoColumns(t *testing.T) {
	rows := []string{"t 2024-01-01T08:00:00Z v=1", "t 2024-01-01T09:30:01.5Z v=2"}
	const file = "date,clock,v\n2024-01-01,08:00,1\n2024-01-01,09:30:01.5,2\n"
	checkKinds(t, map[string]kind{
		"CSV": {"t.csv", file, proposal{want: map[string]string{"time": "date, clock", "time-format": "rfc3339", "tags": "", "fields": "v:int"},
			facts: []string{"columns date and clock together are the time", "2 times have no zone"}}, rows},
		"JSON":               {"t.ndjson", `{"clock":"08:00","date":"2024-01-01","v":1}` + "\n" + `{"date":"2024-01-01","v":2,"clock":"09:30:01.5"}` + "\n", proposal{want: map[string]string{"time": "date, clock", "fields": "v:int"}}, rows},
		"zones":              {"t.csv", "Time,Date,v\n10:00:00+02:00,2024-01-01,1\n", proposal{want: map[string]string{"time": "Date, Time"}}, []string{"t 2024-01-01T08:00:00Z v=1"}},
		"a layout":           {"t.csv", "d,c,v\n31.12.2024,8:05 PM,1\n", proposal{settings: []string{"time=d, c", "time-format=02.01.2006 3:04 PM"}, want: map[string]string{"time": "d, c"}}, []string{"t 2024-12-31T20:05:00Z v=1"}},
		"odd names":          {"t.csv", "\"on, day\",\"at \"\"h\"\"\",v\n2024-01-01,08:00,1\n", proposal{want: map[string]string{"time": `"on, day", "at \"h\""`}}, []string{"t 2024-01-01T08:00:00Z v=1"}},
		"two others":         {"t.csv", "date,open,close,v\n2024-01-01,08:00,18:00,1\n", proposal{want: map[string]string{"time": "date", "tags": "", "fields": "open:text, close:text, v:int"}, facts: []string{"column open has times of day, and is a text; if it belongs to the time, name both: --time-column 'date, open'"}}, nil},
		"hours of a layout":  {"t.csv", "day,clock,v\n31.12.2024,8:05 PM,1\n", proposal{settings: []string{"time=day", "time-format=02.01.2006"}, want: map[string]string{"tags": "", "fields": "clock:text, v:int"}, facts: []string{"column clock has times of day, and is a text; if it belongs to the time, name both"}}, nil},
		"one is missing":     {"t.csv", file + "2024-01-01,,3\n", proposal{settings: []string{"time=date, clock"}, refused: "t.csv:4: the row has no time in column clock"}, nil},
		"not as expected":    {"t.csv", "date,clock,v\n2024-01-01,8 PM,1\n", proposal{settings: []string{"time=date, clock"}, refused: "columns date and clock make the time, and are not all written as 2006-01-02 and 15:04:05"}, nil},
		"no such column":     {"t.csv", file, proposal{settings: []string{"time=date, clok"}, refused: `table t has no column "clok" with times of day; did you mean "clock"`}, nil},
		"three":              {"t.csv", file, proposal{settings: []string{"time=date, clock, v"}, refused: "names 3 columns"}, nil},
		"a comma in one":     {"t.csv", "\"time, UTC\",v\n2024-01-01,1\n", proposal{settings: []string{`time="time, UTC"`}, want: map[string]string{"time": `"time, UTC"`}}, nil},
		"a time beside them": {"t.csv", "ts,clock,v\n2024-01-01T01:00:00Z,08:00,1\n", proposal{want: map[string]string{"time": "ts", "fields": "clock:text, v:int"}}, nil},
	})
}

// An empty text is not missing, whatever the other texts are.
func TestEmptyTextsOfOneLength(t *testing.T) {
	rows := []string{"t 2024-01-01T00:00:00Z code= v=1", "t 2024-01-01T00:00:01Z code=A1 v=2", "t 2024-01-01T00:00:02Z v=3"}
	notags := proposal{settings: []string{"tags=none", "table=t"}, want: map[string]string{"fields": "code:text, v:int"}}
	checkKinds(t, map[string]kind{
		"CSV":          {"t.csv", "time,code,v\n2024-01-01T00:00:00Z,\"\",1\n2024-01-01T00:00:01Z,A1,2\n2024-01-01T00:00:02Z,,3\n", notags, rows},
		"JSON":         {"t.ndjson", "{\"time\":\"2024-01-01T00:00:00Z\",\"code\":\"\",\"v\":1}\n{\"time\":\"2024-01-01T00:00:01Z\",\"code\":\"A1\",\"v\":2}\n{\"time\":\"2024-01-01T00:00:02Z\",\"code\":null,\"v\":3}\n", notags, rows},
		"lines":        {"t.lp", "t code=\"\",v=1i 1704067200\nt code=\"A1\",v=2i 1704067201\nt v=3i 1704067202\n", proposal{want: notags.want}, rows},
		"alone":        {"t.lp", "t code=\"\",v=1i 1704067200\n", proposal{want: notags.want}, rows[:1]},
		"blanks":       {"t.csv", "time,code,v\n2024-01-01T00:00:00Z,\" 1\",1\n2024-01-01T00:00:01Z,A1,2\n", notags, []string{"t 2024-01-01T00:00:00Z code= 1 v=1", "t 2024-01-01T00:00:01Z code=A1 v=2"}},
		"a fixed type": {"t.csv", "time,code,v\n2024-01-01T00:00:00Z,\"\",1\n", proposal{settings: []string{"fields=code:text2"}, refused: `t.csv:2: column code: "" is not of type text2`}, nil},
		"a number":     {"t.csv", "time,v\n2024-01-01,\"\"\n2024-01-02,2\n", proposal{want: map[string]string{"fields": "v:int"}}, []string{"t 2024-01-01T00:00:00Z", "t 2024-01-02T00:00:00Z v=2"}},
	})
	for _, format := range []string{"parquet", "arrow"} {
		path := recordsFile(t, format, arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).Append("") })
		proposal{settings: []string{"tags=none"}, want: map[string]string{"fields": "n:int, x:text"}}.check(t, path)
	}
}

// Times do not depend on the zone of the machine, nor on what an abbreviation may mean.
func TestAbbreviationsOfZones(t *testing.T) {
	const layout = "time-format=2006-01-02 15:04:05 MST"
	zone := time.Local
	defer func() { time.Local = zone }()
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York"} {
		at, err := time.LoadLocation(name)
		if err != nil {
			t.Skip("no time zones here:", err)
		}
		time.Local = at
		kinds := map[string]kind{
			"offset too": {"t.csv", "when,v\n2024-07-01 12:00:00 +0200 CEST,1\n", proposal{settings: []string{"time-format=2006-01-02 15:04:05 -0700 MST"}}, []string{"t 2024-07-01T10:00:00Z v=1"}},
			"by itself":  {"t.csv", "when,v\n2024-07-01 12:00:00 CEST,1\n", proposal{settings: []string{"time=when"}, refused: `t.csv:2: column when: "2024-07-01 12:00:00 CEST" has the zone CEST, whose offset`}, nil},
		}
		for _, abbreviation := range []string{"CEST", "CET", "EST", "PST", "BST", "+02", "GMT+2", "GMT-11"} {
			text := "when,v\n2024-07-01 12:00:00 " + abbreviation + ",1\n"
			refused := fmt.Sprintf(`t.csv:2: column when: "2024-07-01 12:00:00 %s" has the zone %s, whose offset its abbreviation does not tell`, abbreviation, abbreviation)
			kinds[abbreviation] = kind{"t.csv", text, proposal{settings: []string{layout}, refused: refused}, nil}
			kinds[abbreviation+", named"] = kind{"t.csv", text, proposal{settings: []string{layout, "time=when"}, refused: refused}, nil}
		}
		for _, same := range []string{"UTC", "GMT"} {
			text := "when,v\n2024-07-01 12:00:00 " + same + ",1\n"
			kinds[same] = kind{"t.csv", text, proposal{settings: []string{layout}}, []string{"t 2024-07-01T12:00:00Z v=1"}}
			kinds[same+", without a layout"] = kind{"t.csv", text, proposal{}, []string{"t 2024-07-01T12:00:00Z v=1"}}
		}
		checkKinds(t, kinds)
	}
}

// Years that nanoseconds do not hold are named as such, and stand for missing times in fields.
func TestYearsOutside(t *testing.T) {
	most := func(i int) string { return map[bool]string{true: "9999-12-31", false: "2024-05-01"}[i%3 > 0] }
	checkKinds(t, map[string]kind{
		"after":    {"t.csv", "time,v\n2262-04-11T23:47:16Z,1\n2262-04-12T00:00:00Z,2\n", proposal{refused: `t.csv:2: column time: "2262-04-11T23:47:16Z" is outside the years 1678 to 2261`}, nil},
		"before":   {"t.csv", "time,v\n1677-09-21T00:12:44Z,1\n1969-12-31T23:59:59.999999999Z,2\n", proposal{refused: `t.csv:2: column time: "1677-09-21T00:12:44Z" is outside the years 1678 to 2261`}, nil},
		"JSON":     {"t.ndjson", "{\"time\":\"3000-01-01T00:00:00Z\",\"v\":1}\n{\"time\":\"2024-01-01T00:00:00Z\",\"v\":2}\n", proposal{refused: `t.ndjson:1: column time: "3000-01-01T00:00:00Z" is outside the years 1678 to 2261`}, nil},
		"named":    {"t.csv", "t,v\n0001-01-01,1\n", proposal{settings: []string{"time=t"}, refused: `t.csv:2: column t: "0001-01-01" is outside the years 1678 to 2261`}, nil},
		"a layout": {"t.csv", "t,v\n01.01.0001,1\n", proposal{settings: []string{"time=t", "time-format=02.01.2006"}, refused: `t.csv:2: column t: "01.01.0001" is outside the years 1678 to 2261`}, nil},
		"most":     {"t.csv", rowsOf("time,until,v", 60, func(i int) string { return most(i) + ",1" }), proposal{want: map[string]string{"tags": "", "fields": "until:text, v:int"}, facts: []string{`column until is date but for 40 of 60 values, the first is "9999-12-31" in t.csv:3, outside the years 1678 to 2261, so it is a text; --null 9999-12-31 (own.null) reads that as missing, and the column as date`}}, nil},
		"as said":  {"t.csv", rowsOf("time,until,v", 60, func(i int) string { return most(i) + ",1" }), proposal{settings: []string{"null=9999-12-31"}, want: map[string]string{"fields": "until:date, v:int"}, quiet: true}, nil},
		"all":      {"t.csv", rowsOf("time,until,v", 3, func(int) string { return "0001-01-01T00:00:00,1" }), proposal{want: map[string]string{"tags": "", "fields": "until:text, v:int"}, facts: []string{`column until is a text: all its times are outside the years 1678 to 2261, the first is "0001-01-01T00:00:00" in t.csv:2`}}, nil},
		"zero dates": {"t.csv", rowsOf("time,until,v", 9, func(i int) string {
			return map[bool]string{true: "0000-00-00 00:00:00,1", false: "2024-05-01 10:00:00,1"}[i%2 > 0]
		}), proposal{want: map[string]string{"tags": "", "fields": "until:text, v:int"}, facts: []string{`column until is timestamp but for 4 of 9 values`}}, nil},
		"a given type": {"t.csv", rowsOf("time,until", 2, func(int) string { return "9999-12-31" }), proposal{settings: []string{"fields=until:date"}, refused: `t.csv:2: column until: "9999-12-31" is outside the years 1678 to 2261; correct the line, or give --null`}, nil},
	})
}

// Bytes that are not UTF-8, in names, and whole files of other encodings and formats.
func TestOtherBytes(t *testing.T) {
	utf16 := func(text string) string {
		var out strings.Builder
		for _, r := range text {
			out.WriteByte(byte(r))
			out.WriteByte(0)
		}
		return out.String()
	}
	const text = "time,v\n2024-01-01,1\n"
	rows := []string{"t 2024-01-01T00:00:00Z v=1"}
	checkKinds(t, map[string]kind{
		"header":                     {"t.csv", "time,H\xf6he\n2024-01-01,1\n", proposal{refused: `t.csv:1: the name of column "H\xf6he" is not valid UTF-8; give the encoding of the file (own.encoding, --encoding)`}, nil},
		"header, given":              {"t.csv", "time,H\xf6he,v\n2024-01-01,1,2\n", proposal{settings: []string{"fields=v:int", "time=time", "time-format=rfc3339", "tags=none", "table=t", "delimiter=,"}, refused: `t.csv:1: the name of column "H\xf6he" is not valid UTF-8`}, nil},
		"old Macs":                   {"t.csv", "time,v\r2024-01-01,1\r", proposal{refused: "t.csv:1: the lines of the file end in carriage returns alone; convert it"}, nil},
		"Latin-1":                    {"t.ndjson", "{\"time\":\"2024-01-01\",\"h\":\"K\xf6ln\"}\n", proposal{refused: "t.ndjson:1: the line is not valid UTF-8; give the encoding of the file"}, nil},
		"a comment":                  {"t.csv", "# made by x\n" + text, proposal{refused: "t.csv:2: the row has 2 columns, and the header 1; the header looks like a comment; take it out"}, nil},
		"half of a UTF-16 character": {"t.csv", "\xff\xfet\x00,\x00v\x00\n\x00\x00\xd8a\x00", proposal{refused: "t.csv:2: the line is not valid UTF-16: half of the character 0xd800 is missing; copy it again"}, nil},
		"without mark":               {"t.csv", utf16(text), proposal{want: map[string]string{"fields": "v:int"}}, rows},
		"with mark":                  {"t.csv", "\xff\xfe" + utf16(text), proposal{}, rows},
		"UTF-16, given":              {"t.csv", "\xff\xfe" + utf16(text), proposal{settings: []string{"encoding=utf-16"}, want: map[string]string{"encoding": "utf-16"}}, rows},
		"big endian":                 {"t.csv", "\xfe\xff\x00" + strings.TrimSuffix(utf16(text), "\x00"), proposal{}, rows},
		"JSON":                       {"t.ndjson", "\xff\xfe" + utf16("{\"time\":\"2024-01-01\",\"v\":1}"), proposal{}, rows},
		"lines":                      {"t.lp", "\xff\xfe" + utf16("t v=1i 1704067200000000000\n"), proposal{}, rows},
		"windows-1252":               {"t.csv", "time,price \x80\n2024-01-01,1\n", proposal{settings: []string{"encoding=windows-1252"}, want: map[string]string{"fields": `"price €":int`}}, nil},
		"cp1253":                     {"t.csv", "time,\xe1\n2024-01-01,1\n", proposal{settings: []string{"encoding=cp1253"}, want: map[string]string{"fields": `"α":int`}}, nil},
		"no character":               {"t.csv", "time,v\n2024-01-01,\x81\n", proposal{settings: []string{"encoding=windows-1252"}, refused: "t.csv:2: the byte 0x81 is not Windows 1252; give the encoding"}, nil},
		"UTF-8 instead":              {"t.csv", "\ufefftime,v\n", proposal{settings: []string{"encoding=latin1"}, refused: "reading t.csv: the file begins as Unicode does, and not as latin1"}, nil},
		"unknown":                    {"t.csv", text, proposal{settings: []string{"encoding=latin-11"}, refused: `unknown encoding "latin-11"`}, nil},
		"Excel":                      {"t.csv", "PK\x03\x04 and more", proposal{refused: "reading t.csv: its compressed content is cut off"}, nil},
	})
}

// Delimiters, quotes and other characters around the cells of CSV.
func TestDelimitersOfCSV(t *testing.T) {
	want := []string{"t 2024-01-01T00:00:00Z value=1.5"}
	checkKinds(t, map[string]kind{
		"in quotes":         {"t.csv", "time;\"power (kW, net, AC, phase 1)\"\n2024-01-01 00:00:00;1.5\n", proposal{want: map[string]string{"delimiter": ";", "fields": `"power (kW, net, AC, phase 1)":float`}}, nil},
		"over lines":        {"t.csv", "time;\"value\n(a, b,\n,c)\"\n2024-01-01 00:00:00;1.5\n", proposal{want: map[string]string{"delimiter": ";"}}, nil},
		"a quote within":    {"t.csv", "time;5\" pipe, a;b\n2024-01-01;1.5;2\n", proposal{want: map[string]string{"delimiter": ";"}}, nil},
		"Excel's line":      {"t.csv", "sep=;\ntime;value\n2024-01-01;1.5\n", proposal{want: map[string]string{"delimiter": ";"}}, want},
		"in quotes, marked": {"t.csv", "\ufeff\"SEP=|\"\r\ntime|value\r\n2024-01-01|1.5\r\n", proposal{want: map[string]string{"delimiter": "|"}}, want},
		"a comma":           {"t.csv", "sep=,\ntime,value\n2024-01-01,1.5\n", proposal{want: map[string]string{"delimiter": ""}}, want},
		"no header":         {"t.csv", "sep=;\n2024-01-01;1.5\n", proposal{settings: []string{"columns=time, value"}}, want},
		"another one":       {"t.csv", "sep=;\ntime,value\n2024-01-01,1.5\n", proposal{settings: []string{"delimiter=,"}, refused: "t.csv:1: the line says that the delimiter is ';', and the files are read with ','"}, nil},
		"line 4 is wrong":   {"t.csv", "sep=;\ntime;value\n2024-01-01;1.5\n2024-01-01;1;2\n", proposal{refused: "t.csv:4: the row has 3 columns, and the header 2"}, nil},
	})
}

// A field of several types names each, with its line.
func TestTypesOfLines(t *testing.T) {
	line := func(values ...string) string {
		var text strings.Builder
		for i, v := range values {
			fmt.Fprintf(&text, "m,host=a v=%s 17000000%d000000000\n", v, i+10)
		}
		return text.String()
	}
	checkKinds(t, map[string]kind{
		"four":   {"t.lp", line("1i", "1.5", `"x"`, "t"), proposal{want: map[string]string{"fields": "v:text"}, facts: []string{"column v is int in t.lp:1, float in t.lp:2, text in t.lp:3 and bool in t.lp:4, so it is a text"}}, nil},
		"two":    {"t.lp", line("1i", "2i", "1.5"), proposal{want: map[string]string{"fields": "v:float"}, facts: []string{"column v is int in t.lp:1 and float in t.lp:3, so it is float; InfluxDB would refuse the later ones"}}, nil},
		"a time": {"t.lp", line("1i", "t", "1i", `"2024-01-01"`), proposal{want: map[string]string{"fields": "v:text"}, facts: []string{"column v is int in t.lp:1, bool in t.lp:2 and text in t.lp:4, so it is a text"}}, nil},
		"one":    {"t.lp", line("1i", "2i"), proposal{want: map[string]string{"fields": "v:int"}, quiet: true}, nil},
	})
}

// Numbers with units or other signs do not make a column a tag, and numbers that floats cannot
// represent are named.
func TestOddNumbers(t *testing.T) {
	for _, odd := range []string{"5%", "5.5 %", "$1.50", "2 €", "€3", "1'000", "12 000", "12\u202f000.5", "1_000", "(3.5)", "\u22123", "-$5"} {
		p := proposal{want: map[string]string{"tags": "", "fields": "p:text, v:int"}, facts: []string{fmt.Sprintf("column p has numbers with other signs, such as %q in t.csv:2, so it is a text; write digits alone", odd)}}
		p.check(t, write(t, "t.csv", "time,p,v\n2024-01-01,"+odd+",1\n2024-01-02,4,1\n2024-01-03,NA,1\n2024-01-04,"+odd+",1\n"))
	}
	for _, name := range []string{"a 5", "10.0.0.1", "030 123", "5m", "1 2", "48 11.5", "5-6", "A%", "%", "1 000 00", "2024-01"} {
		p := proposal{want: map[string]string{"tags": "p", "fields": "v:int"}, quiet: true}
		p.check(t, write(t, "t.csv", "time,p,v\n2024-01-01,"+name+",1\n2024-01-02,b,1\n"))
	}
	for number, rounded := range map[string]bool{"0.1234567890123456789": true, "12345678901234567.89e-3": true, "0.1": false, "0.1000000000000000055511151231257827021181583404541015625": false, "0.00000000000000000000001": false, "1.50000000000000000000": false, "1e-400": false} {
		p := proposal{want: map[string]string{"fields": "v:float"}}
		if rounded {
			p.facts = []string{"column v is float, which rounds " + number + " in t.csv:2: it keeps 15 to 17 digits"}
		}
		p.check(t, write(t, "t.csv", "time,v\n2024-01-01,"+number+"\n2024-01-02,0.5\n"))
		if found, err := inspect(t, "files="+write(t, "t.lp", "m v="+number+" 1700000000\n")); err != nil || strings.Contains(strings.Join(found.Facts, "\n"), "rounds "+number) != rounded {
			t.Errorf("%s as line protocol: %v, %v", number, found, err)
		}
	}
}

// Digits beyond nanoseconds, and tags of no characters, are lost with a note.
func TestWhatIsLost(t *testing.T) {
	finer := []string{"2 times have digits beyond nanoseconds, which are cut off"}
	empty := []string{"tag h of table t is empty in 1 rows, which is read as missing; a field holds empty texts"}
	checkKinds(t, map[string]kind{
		"texts": {"t.csv", "time,v\n2024-01-01T00:00:00.1234567891Z,1\n2024-01-01T00:00:01.1234567890123Z,1\n2024-01-01T00:00:01.1234567890Z,1\n", proposal{facts: finer}, nil},
		"units": {"t.csv", "time,v\n1704067200000.1234567,1\n1704067201000.1234567,1\n1704067201000.123456000,1\n", proposal{facts: finer}, nil},
		"CSV":   {"t.csv", "time,h,v\n2024-01-01,\"\",1\n2024-01-02,,2\n2024-01-03,a,3\n2024-01-04,  ,4\n", proposal{facts: empty}, []string{"t 2024-01-01T00:00:00Z v=1", "t 2024-01-02T00:00:00Z v=2", "t h=a 2024-01-03T00:00:00Z v=3", "t 2024-01-04T00:00:00Z v=4"}},
		"JSON":  {"t.ndjson", "{\"time\":\"2024-01-01\",\"h\":\"\",\"v\":1}\n{\"time\":\"2024-01-02\",\"h\":null,\"v\":1}\n{\"time\":\"2024-01-03\",\"h\":\"a\",\"v\":1}\n", proposal{facts: empty}, nil},
		"blanks": {"t.csv", "time,s,v\n2024-01-01,a,1\n2024-01-02,  ,2\n2024-01-03,\"  \",3\n2024-01-04, NA,4\n2024-01-05,\"NA\",5\n", proposal{settings: []string{"null=NA", "tags=none"}, want: map[string]string{"fields": "s:text, v:int"}},
			[]string{"t 2024-01-01T00:00:00Z s=a v=1", "t 2024-01-02T00:00:00Z v=2", "t 2024-01-03T00:00:00Z s=   v=3", "t 2024-01-04T00:00:00Z v=4", "t 2024-01-05T00:00:00Z v=5"}},
		"series":       {"t.csv", rowsOf("time,p,v", 12, func(i int) string { return fmt.Sprintf("%d kW,1", i) }), proposal{want: map[string]string{"tags": "p"}, facts: []string{"most series of table t have one row: a tag may rather be a field, as p with 12 values"}}, nil},
		"twice":        {"t.ndjson", "{\"time\":\"2024-01-01\",\"v\":1}\n{\"time\":\"2024-01-02\",\"v\":1,\"\\u0076\":null}\n", proposal{refused: "t.ndjson:2: the object has member v twice"}, nil},
		"twice, given": {"t.ndjson", "{\"time\":\"2024-01-01\",\"h\":\"a\",\"h\":\"b\",\"v\":1}\n", proposal{settings: []string{"fields=v:int", "tags=h", "time=time", "time-format=rfc3339", "table=t"}, refused: "t.ndjson:1: the object has member h twice"}, nil},
	})
	for _, format := range []string{"parquet", "arrow"} {
		path := recordsFile(t, format, arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).AppendValues([]string{"", "a"}, nil) })
		proposal{settings: []string{"tags=x", "fields=n:int", "table=t"}, facts: []string{"tag x of table t is empty in 1 rows"}}.check(t, path)
	}
}

// Times that no calendar has are told from other ways of writing, and errors offer the
// likeliest of these.
func TestErrorsOfTimes(t *testing.T) {
	checkKinds(t, map[string]kind{
		"midnight":    {"t.csv", "time,v\n2024-01-01T24:00:00Z,1\n", proposal{refused: `t.csv:2: column time: "2024-01-01T24:00:00Z" has a month, day, hour, minute or second that there is not; correct the line`}, nil},
		"leap second": {"t.csv", "time,v\n2016-12-31T23:59:60Z,1\n", proposal{settings: []string{"time=time", "time-format=rfc3339"}, refused: `t.csv:2: column time: "2016-12-31T23:59:60Z" has a month, day, hour, minute or second that there is not; correct the line`}, nil},
		"February 30": {"t.csv", "time,v\n2024-02-30,1\n", proposal{refused: `t.csv:2: column time: "2024-02-30" has a month, day`}, nil},
		"digits":      {"t.csv", "time,v\n20240102100000,1\n", proposal{refused: "column time of t.csv has numbers from 20240102100000 to 20240102100000, which are not times from 1980 to 2100; say how they are written with own.time and own.time-format, as in --time-column time --time-format 20060102150405"}, nil},
		"slashes":     {"t.csv", "time,v\n2024/01/02 10:00:00Z,1\n", proposal{refused: `t.csv:2: column time: "2024/01/02 10:00:00Z" is not a time such as 2006-01-02T15:04:05Z; say how times are written with own.time and own.time-format, as in --time-column time --time-format`}, nil},
		"wrapped":     {"t.json", `{"data":[{"time":"2024-01-01","v":1}]}`, proposal{refused: "no column of t.json holds times; column data cannot be the time: it has an array"}, nil},
	})
}

// Arrays of objects, and objects over several lines, are rows as lines of objects are.
func TestJSONOverLines(t *testing.T) {
	rows := []string{"t 2024-01-01T00:00:00Z v=1.5", "t 2024-01-01T00:00:01Z v=2.5"}
	const a, b = `{"ts":"2024-01-01T00:00:00Z","v":1.5}`, `{"ts":"2024-01-01T00:00:01Z","v":2.5}`
	long := strings.Repeat(" \n", 200_000)
	checkKinds(t, map[string]kind{
		"array":          {"t.json", "[" + a + ",\n" + b + "]\n", proposal{}, rows},
		"in one line":    {"t.json", "[" + a + "," + b + "]", proposal{}, rows},
		"pretty array":   {"t.json", "\n[\n" + strings.ReplaceAll(a, ",", ",\n  ") + ",\n" + b + "\n]\n", proposal{}, rows},
		"pretty":         {"t.json", strings.ReplaceAll(a, ",", ",\r\n") + "\n" + strings.ReplaceAll(b, "{", "{\n") + "\n", proposal{}, rows},
		"marked":         {"t.json", "\ufeff[" + a + "," + b + "]", proposal{}, rows},
		"arrays":         {"t.json", "[" + a + "]\n[" + b + "]\n", proposal{}, rows},
		"by content":     {"t.txt", "[" + a + ",\n" + b + "]", proposal{want: map[string]string{"format": "ndjson"}}, rows},
		"far down":       {"t.json", "[" + a + "," + long + "{\"ts\":\"soon\",\"v\":1}]", proposal{settings: []string{"time=ts", "time-format=rfc3339"}, refused: `t.json:200001: column ts: "soon" is not a time`}, nil},
		"not closed":     {"t.json", "[" + a + ",\n" + b, proposal{refused: "t.json:2: the JSON of the line is cut off"}, nil},
		"no objects":     {"t.json", "[[1,2],\n[3,4]]", proposal{refused: "t.json:1: the JSON has something else than objects"}, nil},
		"something more": {"t.json", "[" + a + "]\n7", proposal{refused: "t.json:2: the JSON has something else than objects"}, nil},
		"MongoDB's":      {"t.ndjson", `{"ts":{"$date":"2024-01-01T00:00:00Z"},"v":{"$numberDouble":1.5}}`, proposal{want: map[string]string{"time": "ts.$date", "fields": `"v.$numberDouble":float`}}, nil},
	})
}

// As many columns as are read are read in about as much time as there are, and more are
// refused by name.
func TestWide(t *testing.T) {
	names := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, ",c%d", i)
		}
		return text.String()
	}
	for name, k := range map[string]kind{
		"CSV":          {"t.csv", "time" + names(10_000) + "\n2024-01-01" + strings.Repeat(",1", 10_000) + "\n", proposal{refused: "t.csv:1: table t has more than 10000 columns"}, nil},
		"JSON":         {"t.ndjson", `{"time":"2024-01-01",` + strings.NewReplacer("c", `"c`, ",", `":1,`).Replace(names(10_000)[1:]) + `":1}`, proposal{refused: "t.ndjson:1: table t has more than 10000 columns"}, nil},
		"measurements": {"t.lp", strings.ReplaceAll(names(10_001)[1:], ",", " v=1 17\n") + " v=1 17\n", proposal{refused: "t.lp:10001: there are more than 10000 measurements"}, nil},
	} {
		t.Run(name, func(t *testing.T) { k.check(t, write(t, k.file, k.text)) })
	}
	path := write(t, "t.csv", "time"+names(9_999)+"\n2024-01-01"+strings.Repeat(",1", 9_999)+"\n")
	if rows := read(t, openOwn(t, "files="+path)); len(rows) != 1 || strings.Count(rows[0], "=1") != 9_999 {
		t.Errorf("%d rows", len(rows))
	}
}

// Times of a zone, and layouts of strptime and Java.
func TestZonesAndLayouts(t *testing.T) {
	const clocks = "time,v\n2024-10-27 02:30:00,1\n2024-10-27 03:30:00,2\n2024-10-27 04:00:00,3\n"
	checkKinds(t, map[string]kind{
		"Athens": {"t.csv", clocks, proposal{settings: []string{"time-zone=Europe/Athens"}, want: map[string]string{"time-zone": "Europe/Athens"}, facts: []string{"1 times came twice when the clocks of Europe/Athens went back, and are taken as the first of the two"}},
			[]string{"t 2024-10-26T23:30:00Z v=1", "t 2024-10-27T00:30:00Z v=2", "t 2024-10-27T02:00:00Z v=3"}},
		"skipped":        {"t.csv", "time,v\n2024-03-31 03:30:00,1\n", proposal{settings: []string{"time-zone=Europe/Athens"}, facts: []string{"1 times were skipped when the clocks of Europe/Athens went forward"}}, []string{"t 2024-03-31T01:30:00Z v=1"}},
		"with offsets":   {"t.csv", "time,v\n2024-07-01T00:00:00Z,1\n", proposal{settings: []string{"time-zone=Europe/Athens"}, facts: []string{"no time is without an offset"}}, []string{"t 2024-07-01T00:00:00Z v=1"}},
		"field":          {"t.csv", "time,at,v\n2024-07-01,2024-07-01 12:00:00,1\n", proposal{settings: []string{"time-zone=Europe/Athens", "time=time", "fields=at:timestamp"}}, []string{"t 2024-06-30T21:00:00Z at=1719824400000000000"}},
		"strptime":       {"t.csv", "time,v\n1/7/2024 12:00:01.5,1\n", proposal{settings: []string{"time-zone=Europe/Athens", "time-format=%-d/%-m/%Y %H:%M:%S.%f"}}, []string{"t 2024-07-01T09:00:01.5Z v=1"}},
		"Java":           {"t.ndjson", `{"when":"01.07.2024 12:00:01,250 +0200","v":1}`, proposal{settings: []string{"time-format=dd.MM.yyyy HH:mm:ss,SSS Z"}, want: map[string]string{"time": "when"}}, []string{"t 2024-07-01T10:00:01.25Z v=1"}},
		"unknown zone":   {"t.csv", clocks, proposal{settings: []string{"time-zone=Athens"}, refused: `unknown time zone "Athens"; write a name such as Europe/Athens`}, nil},
		"unknown letter": {"t.csv", clocks, proposal{settings: []string{"time-format=YYYY-MM-dd HH:mm:ss"}, refused: `"YYYY-MM-dd HH:mm:ss", character 1: YYYY cannot be read: YYYY is the year of a week; write yyyy`}, nil},
	})
}

// Exports of monitoring systems.
func TestExports(t *testing.T) {
	const flux = "#datatype,string,long,dateTime:RFC3339,double,string,string,string\r\n#group,false,false,false,false,true,true,true\r\n#default,_result,,,,,,\r\n,result,table,_time,_value,_field,_measurement,host\r\n"
	const wide = "#datatype,string,long,dateTime:RFC3339,long,duration,base64Binary\n#group,false,false,false,false,false,false\n#default,_result,,,,,\n,result,table,_time,n,d,b\n"
	checkKinds(t, map[string]kind{
		"OpenMetrics": {"t.prom", "# HELP http_requests_total All.\n# TYPE http_requests_total counter\nhttp_requests_total{method=\"post\",code=\"\"} 1027 1395066363.5 # {trace=\"x\"} 1\nup 1 1395066364\n# EOF\n",
			proposal{want: map[string]string{"format": "openmetrics", "time-format": "s", "fields": "http_requests_total(value:float), up(value:float)", "tags": "http_requests_total(method)"}},
			[]string{"http_requests_total method=post 2014-03-17T14:26:03.5Z value=1027", "up 2014-03-17T14:26:04Z value=1"}},
		"Prometheus":      {"t.txt", "# TYPE up gauge\nup{path=\"C:\\\\a\",title=\"a \\\"b\\\"\\n\"} NaN 1395066363000\n", proposal{want: map[string]string{"time-format": "ms"}}, []string{"up path=C:\\a title=a \"b\"\n 2014-03-17T14:26:03Z value=NaN"}},
		"promtool":        {"t.txt", "{__name__=\"up\", job=\"a\"} 1 1609459200000\n{__name__=\"up\", job=\"b\"} +Inf 1609459200000\n", proposal{want: map[string]string{"format": "openmetrics", "tags": "job"}}, []string{"up job=a 2021-01-01T00:00:00Z value=1", "up job=b 2021-01-01T00:00:00Z value=+Inf"}},
		"names in quotes": {"t.prom", "{\"cpu.user\",\"host.name\"=\"a\"} 1 1609459200000\n", proposal{want: map[string]string{"table": "cpu.user", "tags": "host.name"}}, nil},
		"scraped":         {"t.prom", "# TYPE up gauge\nup 1\n", proposal{refused: "t.prom:2: the sample has no time, as scraped pages have none; write the file by promtool tsdb dump-openmetrics"}, nil},
		"label twice":     {"t.prom", "up{a=\"1\",a=\"2\"} 1 1609459200000\n", proposal{refused: "t.prom:1: the line has tag a twice"}, nil},
		"open labels":     {"t.prom", "up{a=\"1\"\n", proposal{refused: "t.prom:1: a comma or a bracket is missing"}, nil},
		"a histogram":     {"t.prom", "{__name__=\"h\"} {count:1,sum:2} 1609459200000\n", proposal{refused: "t.prom:1: "}, nil},
		"no number":       {"t.prom", "up 1 1609459200000\nup one 1609459201000\n", proposal{refused: "t.prom:2: column value: \"one\" is not a number"}, nil},
		"VictoriaMetrics": {"t.jsonl", "{\"metric\":{\"__name__\":\"up\",\"job\":\"a\"},\"values\":[1,null,9007199254740993],\"timestamps\":[1549891472010,1549891487724,1549891503438]}\n",
			proposal{want: map[string]string{"format": "victoriametrics", "tags": "job"}, facts: []string{"column value is float, which rounds 9007199254740993 in t.jsonl:1"}},
			[]string{"up job=a 2019-02-11T13:24:32.01Z value=1", "up job=a 2019-02-11T13:24:47.724Z value=NaN", "up job=a 2019-02-11T13:25:03.438Z value=9.007199254740992e+15"}},
		"fewer times": {"t.jsonl", "{\"metric\":{\"__name__\":\"up\"},\"values\":[1,2],\"timestamps\":[1549891472010]}\n", proposal{refused: "t.jsonl:1: the line has 2 values and 1 timestamps"}, nil},
		"Latin-1":     {"t.jsonl", "{\"metric\":{\"__name__\":\"up\",\"job\":\"Z\xfcrich\"},\"values\":[1],\"timestamps\":[1549891472010]}\n", proposal{refused: "t.jsonl:1: the line is not valid UTF-8; give the encoding of the file"}, nil},
		"cut off":     {"t.jsonl", "{\"metric\":{\"__name__\":\"up\"},\"values\":[1,2],\"timesta", proposal{refused: "t.jsonl:1: the line is not one of VictoriaMetrics' export ("}, nil},
		"Flux": {"t.csv", flux + ",,0,2024-01-01T00:00:00Z,1.5,user,cpu,a\r\n,,1,2024-01-01T00:00:00Z,2.5,system,cpu,a\r\n\r\n" + flux + ",,0,2024-01-01T00:00:10Z,3,user,cpu,b\r\n",
			proposal{want: map[string]string{"format": "annotated-csv", "time-format": "rfc3339", "fields": "cpu_user(value:float), cpu_system(value:float)", "tags": "cpu_user(host), cpu_system(host)"}},
			[]string{"cpu_user host=a 2024-01-01T00:00:00Z value=1.5", "cpu_system host=a 2024-01-01T00:00:00Z value=2.5", "cpu_user host=b 2024-01-01T00:00:10Z value=3"}},
		"pivoted": {"t.csv", "#datatype,string,long,dateTime:RFC3339,long,string,string\n#group,false,false,false,false,false,true\n#default,_result,,,,none,\n,result,table,_time,n,state,host\n,,0,2024-01-01T00:00:00Z,7,,a\n",
			proposal{want: map[string]string{"table": "data", "tags": "host"}}, []string{"data host=a 2024-01-01T00:00:00Z n=7 state=none"}},
		// After group(), no column is in the group key.
		"not grouped": {"t.csv", "#datatype,string,long,dateTime:RFC3339,double,string,string,string,double\n#group,false,false,false,false,false,false,false,false\n#default,_result,,,,,,,\n,result,table,_time,_value,_field,_measurement,host,limit\n,,0,2024-01-01T00:00:00Z,1.5,user,cpu,a,9\n,,0,2024-01-01T00:00:00Z,2.5,user,cpu,b,8\n",
			proposal{want: map[string]string{"tags": "host", "fields": "value:float, limit:float"}}, []string{"cpu_user host=a 2024-01-01T00:00:00Z value=1.5 limit=9", "cpu_user host=b 2024-01-01T00:00:00Z value=2.5 limit=8"}},
		"value renamed": {"t.csv", "#datatype,string,long,dateTime:RFC3339,double,string\n#group,false,false,false,false,true\n#default,_result,,,,\n,result,table,_time,v,_field\n,,0,2024-01-01T00:00:00Z,1.5,user\n,,0,2024-01-01T00:00:00Z,2.5,system\n",
			proposal{want: map[string]string{"tags": "_field"}}, []string{"data _field=user 2024-01-01T00:00:00Z v=1.5", "data _field=system 2024-01-01T00:00:00Z v=2.5"}},
		"other types": {"t.csv", wide + ",,0,2024-01-01T00:00:00Z,1,1h,aGk=\n,,0,2024-01-01T00:00:01Z,2,,\n",
			proposal{want: map[string]string{"fields": "n:int"}, facts: []string{"column d is left out: its type duration cannot be loaded; convert it in the query, as by string()", "column b is left out: its type base64Binary cannot be loaded"}},
			[]string{"data 2024-01-01T00:00:00Z n=1", "data 2024-01-01T00:00:01Z n=2"}},
		"other types, named":         {"t.csv", wide + ",,0,2024-01-01T00:00:00Z,1,1h,aGk=\n", proposal{settings: []string{"table=data", "tags=none", "fields=n:int, d:text", "time-format=rfc3339"}, refused: "t.csv:5: column d: its type duration cannot be loaded"}, nil},
		"other types, telling apart": {"t.csv", wide + ",,0,2024-01-01T00:00:00Z,1,1h,\n,,0,2024-01-01T00:00:00Z,2,2h,\n", proposal{refused: "1 rows have the series and time of another row, which a column that is left out may tell apart: column d is left out"}, nil},
		"two values":                 {"t.csv", "#datatype,string,long,dateTime:RFC3339,double,double\n#group,false,false,false,false,false\n,result,table,_time,_value,value\n,,0,2024-01-01T00:00:00Z,1,2\n", proposal{refused: "t.csv:3: the columns _value and value would both be the field value; rename one"}, nil},
		"of InfluxDB's errors":       {"t.csv", "#datatype,string,string\n#group,true,true\n#default,,\n,error,reference\n,failed,897\n", proposal{refused: "t.csv:4: the file has an error of InfluxDB"}, nil},
		"same table":                 {"t.csv", flux + ",,0,2024-01-01T00:00:00Z,1.5,b_c,a,h\n,,0,2024-01-01T00:00:00Z,1.5,c,a_b,h\n", proposal{refused: "t.csv:6: the field c of a_b would be the table a_b_c, as the field b_c of a is; rename one"}, nil},
		"no annotation":              {"t.csv", "#datatype,string,long\n,result,table,_time,_value\n", proposal{refused: "t.csv:2: the header has 5 columns, and the annotations #datatype and #group have 3 and 0"}, nil},
	})
}

// Numbers with a comma for decimals, and members of objects.
func TestDecimalsAndObjects(t *testing.T) {
	rows := []string{"t 2024-01-01T00:00:00Z v=1234.5", "t 2024-01-01T00:00:01Z v=1234"}
	checkKinds(t, map[string]kind{
		"comma":     {"t.csv", "time;v\n2024-01-01T00:00:00Z;1.234,5\n2024-01-01T00:00:01Z;1.234\n", proposal{want: map[string]string{"decimal": ",", "fields": "v:float"}, facts: []string{`the comma in numbers such as "1.234,5" in t.csv:2 is taken for the decimal point`}}, rows},
		"given":     {"t.csv", "time\tv\n2024-01-01T00:00:00Z\t1234,5\n2024-01-01T00:00:01Z\t1234\n", proposal{settings: []string{"decimal=,"}}, rows},
		"of both":   {"t.csv", "time;v;w\n2024-01-01;1,5;2.25\n", proposal{want: map[string]string{"decimal": "", "fields": "v:text, w:float"}}, nil},
		"a point":   {"t.csv", "time;v\n2024-01-01;1,5\n2024-01-02;1.25\n", proposal{settings: []string{"decimal=,"}, refused: `t.csv:3: column v: "1.25" has a point for decimals, and others have a comma`}, nil},
		"thousands": {"t.csv", "time;v\n2024-01-01;1,500\n", proposal{want: map[string]string{"decimal": ""}}, nil},
		"of JSON":   {"t.ndjson", `{"time":1704067200,"v":1}`, proposal{settings: []string{"decimal=,"}, refused: "is for CSV, and "}, nil},
		"objects":   {"t.ndjson", `{"time":1704067200,"device":{"id":"a","place":{"x":1}},"v":1.5}`, proposal{want: map[string]string{"tags": "device.id", "fields": "device.place.x:int, v:float"}}, []string{"t device.id=a 2024-01-01T00:00:00Z device.place.x=1 v=1.5"}},
		"an array of objects": {"t.json", `[{"time":1704067200,"a":{"b":1}},
{"time":1704067201,"a":{"b":2}}]`, proposal{}, []string{"t 2024-01-01T00:00:00Z a.b=1", "t 2024-01-01T00:00:01Z a.b=2"}},
		"twice":            {"t.ndjson", `{"time":1704067200,"a":{"b":1},"a.b":2}`, proposal{refused: "t.ndjson:1: the object has member a.b twice"}, nil},
		"an object, named": {"t.ndjson", `{"time":1704067200,"a":{"b":1}}`, proposal{settings: []string{"time=time", "time-format=s", "table=t", "tags=none", "fields=a:int"}, refused: "t.ndjson:1: column a: the value is an object; name its members, as in a.id"}, nil},
	})
}
