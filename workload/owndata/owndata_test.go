package owndata_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/witness/duckdb"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// inspect looks at files; settings are NAME=VALUE.
func inspect(t testing.TB, settings ...string) (*owndata.Inspection, error) {
	t.Helper()
	spec := workload.Spec{Name: "own", Settings: workload.Settings{}}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		spec.Settings.Set("own."+name, value)
	}
	return owndata.Inspect(t.Context(), owndata.Workload(duckdb.Library()), spec, func(int) {})
}

// openOwn is the dataset of files.
func openOwn(t testing.TB, settings ...string) workload.Dataset {
	t.Helper()
	found, err := inspect(t, settings...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := owndata.Workload(duckdb.Library()).Dataset(found.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read returns all rows as text: table, tags, time, and fields that are not NULL.
func read(t testing.TB, d workload.Dataset) []string {
	t.Helper()
	var lines []string
	var b series.Batch
	for r := d.Open(); ; {
		err := r.Next(&b, 3)
		if errors.Is(err, io.EOF) {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Runs {
			run := &b.Runs[i]
			for row, at := range run.Times {
				line := run.Table.Name
				for _, tag := range run.Table.Tags {
					if value, ok := tag.Values.Append(nil, run.Series[row]); ok {
						line += fmt.Sprintf(" %s=%s", tag.Key, value)
					}
				}
				line += " " + time.Unix(0, at).UTC().Format(time.RFC3339Nano)
				for f, of := range run.Table.Fields {
					switch {
					case run.Lacks(f, row):
					case of.Type == series.Text:
						line += fmt.Sprintf(" %s=%s", of.Name, run.Columns[f].AppendText(nil, row, of.Length))
					case of.Type.UsesInts():
						line += fmt.Sprintf(" %s=%d", of.Name, run.Columns[f].Ints[row])
					default:
						line += fmt.Sprintf(" %s=%v", of.Name, run.Columns[f].Floats[row])
					}
				}
				lines = append(lines, line)
			}
		}
	}
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The samples have the schemas of public data, and rows of our own.
func TestSamples(t *testing.T) {
	for file, c := range map[string]struct {
		settings []string
		want     map[string]string
		first    string
		facts    []string
	}{
		"yellow_tripdata_2024-01.csv": {
			want: map[string]string{
				"format": "csv", "table": "yellow_tripdata", "time": "tpep_pickup_datetime", "time-format": "rfc3339", "tags": "store_and_fwd_flag",
				"fields": "VendorID:int, tpep_dropoff_datetime:timestamp, passenger_count:int, trip_distance:float, RatecodeID:int, PULocationID:int, DOLocationID:int, payment_type:int, " +
					"fare_amount:float, extra:float, mta_tax:float, tip_amount:float, tolls_amount:float, improvement_surcharge:int, total_amount:float, congestion_surcharge:float, airport_fee:float",
			},
			first: "yellow_tripdata store_and_fwd_flag=N 2024-01-01T00:05:10Z VendorID=1 tpep_dropoff_datetime=1704068265000000000 passenger_count=1 trip_distance=2.5",
			facts: []string{"5 times have no zone, and are taken as UTC", "2 series", "1 rows are out of order, by up to 39s", "2 rows have the series and time of a later row", "field passenger_count of table yellow_tripdata is missing in 1 rows"},
		},
		"coops-water-level.csv": {
			want: map[string]string{
				"time": "Date Time", "tags": "Quality", "table": "coops_water_level",
				"fields": `"Water Level":float, Sigma:float, "O or I (for verified)":int, F:int, R:int, L:int`,
			},
			first: "coops_water_level Quality=v 2024-01-01T00:00:00Z Water Level=1.204 Sigma=0.003 O or I (for verified)=0 F=0 R=0 L=0",
			facts: []string{"multiples of 6m0s", "the rows of each series are in order", "no two rows have one series and time"},
		},
		"water.lp": {
			want: map[string]string{
				"format": "influx", "time-format": "s", "tags": "h2o_feet(location), average_temperature(location), h2o_quality(location, randtag)",
				"fields": `h2o_feet("level description":text, water_level:float), average_temperature(degrees:float), h2o_quality(index:int)`,
			},
			first: "h2o_feet location=coyote_creek 2019-08-17T00:00:00Z level description=between 6 and 9 feet water_level=8.12",
			facts: []string{"3 series"},
		},
		"isd-weather.ndjson": {
			want: map[string]string{
				"format": "ndjson", "time": "date", "tags": "station, report_type", "fields": "wind.speed:float, temperature:float, pressure:float", "table": "isd_weather",
			},
			first: "isd_weather station=01001 report_type=FM-12 2024-01-01T00:00:00Z wind.speed=3.1 temperature=-9.4 pressure=1009",
			facts: []string{"3 times have no zone", "field temperature of table isd_weather is missing in 1 rows"},
		},
		"btcusd.csv": {
			settings: []string{"columns=time,price,amount"},
			want:     map[string]string{"columns": "time, price, amount", "time-format": "s", "fields": "price:float, amount:float", "tags": "", "table": "btcusd"},
			first:    "btcusd 2024-01-01T00:00:00Z price=42314.5 amount=0.01",
			facts:    []string{"1 rows are out of order, by up to 2s", "1 rows have the series and time of a later row", "1 series"},
		},
	} {
		t.Run(file, func(t *testing.T) {
			settings := append([]string{"files=testdata/" + file}, c.settings...)
			found, err := inspect(t, settings...)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range c.want {
				if got := found.Spec.Settings["own."+name]; got != want {
					t.Errorf("%s: got %s, want %s", name, got, want)
				}
			}
			if rows := read(t, openOwn(t, settings...)); !strings.HasPrefix(rows[0], c.first) {
				t.Errorf("the first row is %s, want %s", rows[0], c.first)
			}
			for _, fact := range c.facts {
				if !strings.Contains(strings.Join(found.Facts, "\n"), fact) {
					t.Errorf("no fact says %q: %s", fact, strings.Join(found.Facts, "\n"))
				}
			}
		})
	}
}

// What generate writes is read as the rows that it was made from, in every format that
// keeps them.
func TestGenerated(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	spec := workload.Spec{Seed: 3, Scale: 6, Start: start, End: start.Add(30 * time.Minute), Interval: time.Minute}
	for _, w := range []workload.Workload{tsbs.CPUOnly(), tsbs.Devops(), tsbs.IoT(), iotdb.Workload()} {
		spec.Name = w.Name()
		made, err := w.Dataset(spec)
		if err != nil {
			t.Fatal(err)
		}
		want, err := generate.DigestOf(t.Context(), made, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"parquet", "arrow", "influx"} {
			if name == "influx" && (w.Name() == "iot" || w.Name() == "iotdb") {
				continue // which has numeric tags as fields, and all integers as ones of 64 bits
			}
			t.Run(w.Name()+" "+name, func(t *testing.T) {
				format, err := generate.Find(name)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "data")
				out, err := format.Create(path, made.Schema())
				if err != nil {
					t.Fatal(err)
				}
				if err := out.Write(t.Context(), made.Open(), func(int) {}); err != nil {
					t.Fatal(err)
				}
				if err := out.Commit(); err != nil {
					t.Fatal(err)
				}
				settings := []string{"files=" + path}
				if w.Name() == "iot" || w.Name() == "iotdb" { // whose numeric tags and texts look like fields and tags
					settings = append(settings, "tags="+tagsOf(made.Schema()))
				}
				if len(made.Schema().Tables) == 1 { // its file's name contains only the beginning
					settings = append(settings, "table="+made.Schema().Tables[0].Name)
				}
				if w.Name() == "iot" { // whose numeric tags are texts here
					had, has := read(t, made), read(t, openOwn(t, settings...))
					slices.Sort(had)
					slices.Sort(has)
					for i := range had {
						if i >= len(has) || had[i] != has[i] {
							t.Fatalf("a row was %s, and is %s", had[i], has[i])
						}
					}
					return
				}
				got, err := generate.DigestOf(t.Context(), openOwn(t, settings...), func(int) {})
				if err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Errorf("the digest is %s, and was %s", got, want)
				}
			})
		}
	}
}

// tagsOf lists the tags of all tables.
func tagsOf(s *series.Schema) string {
	var lists []string
	for _, table := range s.Tables {
		var keys []string
		for _, tag := range table.Tags {
			keys = append(keys, tag.Key)
		}
		list := strings.Join(keys, ", ")
		if len(s.Tables) > 1 {
			list = table.Name + "(" + list + ")"
		}
		lists = append(lists, list)
	}
	return strings.Join(lists, ", ")
}

// Several files are one table: a column may be missing in one of them, and have another
// type.
func TestFilesTogether(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.csv":   "time,host,load,used\n2024-01-01T00:00:00Z,x,1,7\n2024-01-01T00:00:01Z,y,2,8\n",
		"b.csv":   "host,load,time\nx,1.5,2024-01-01T00:00:02+01:00\n",
		"c.csv":   "time,host,load,used\n",
		"not.dat": "?",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a host=x 2024-01-01T00:00:00Z load=1 used=7", "a host=y 2024-01-01T00:00:01Z load=2 used=8", "a host=x 2023-12-31T23:00:02Z load=1.5"}
	wantStrings(t, read(t, openOwn(t, "files="+dir)), want...)
	wantStrings(t, read(t, openOwn(t, "files="+filepath.Join(dir, "*.csv"))), want...)
	wantStrings(t, read(t, openOwn(t, "files="+filepath.Join(dir, "b.csv")+", "+filepath.Join(dir, "a.csv"), "table=a")), want[2], want[0], want[1])
	d := openOwn(t, "files="+dir)
	files := d.(workload.FromFiles).Files()
	if len(files) != 3 || files[0].Rows != 2 || files[1].Rows != 1 || files[2].Rows != 0 || len(files[0].SHA256) != 64 {
		t.Errorf("files are %+v", files)
	}
}

// Compressed files, byte order marks, other line ends, quotes and delimiters.
func TestWaysOfWriting(t *testing.T) {
	want := []string{`t name=a,"b" 2024-01-01T00:00:00Z v=1`, "t name=two\nlines 2024-01-01T00:00:01Z v=2"}
	text := "time;name;v\n1704067200000;\"a,\"\"b\"\"\";1\n\n1704067201000;\"two\nlines\"; 2 "
	var gz, zst strings.Builder
	g := gzip.NewWriter(&gz)
	io.WriteString(g, text)
	g.Close()
	z, _ := zstd.NewWriter(&zst)
	io.WriteString(z, text)
	z.Close()
	for name, text := range map[string]string{
		"t.csv": text, "t.csv.gz": gz.String(), "t.csv.zst": zst.String(), "mark.csv": "\ufeff" + text, "tab.tsv": strings.ReplaceAll(text, ";", "\t"),
		"crlf.csv": strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\r\n"), "two\r\nlines", "two\nlines"),
	} {
		t.Run(name, func(t *testing.T) {
			wantStrings(t, read(t, openOwn(t, "files="+write(t, name, text), "table=t")), want...)
		})
	}
}

// What cannot be read is one line that says where.
func TestRefused(t *testing.T) {
	ok := "time,host,v\n2024-01-01T00:00:00Z,x,1\n"
	for name, c := range map[string]struct {
		file, text, want string
		settings         []string
	}{
		"value":        {"a.csv", ok + "2024-01-01T00:00:01Z,x,abc\n", `a.csv:3: column v: "abc" is not of type int`, []string{"time=time", "time-format=rfc3339", "tags=host", "fields=v:int", "table=a"}},
		"time":         {"a.csv", ok + "yesterday,x,1\n", `a.csv:3: column time: "yesterday" is not a time such as`, []string{"time=time"}},
		"time in load": {"a.csv", ok + "yesterday,x,1\n", `a.csv:3: column time: "yesterday" is not a time`, []string{"time=time", "time-format=rfc3339", "tags=host", "fields=v:int", "table=a"}},
		"no time":      {"a.csv", ok + ",x,1\n", "a.csv:3: the row has no time", nil},
		"columns":      {"a.csv", ok + "2024-01-01T00:00:01Z,x\n", "a.csv:3: the row has 2 columns, and the header 3", nil},
		"quotes":       {"a.csv", ok + "2024-01-01T00:00:01Z,\"x,1\n", "a.csv:3: a quoted value is not closed", nil},
		"no rows":      {"a.csv", "time,v\n", "a.csv has no rows", nil},
		"empty":        {"a.csv", "", "a.csv is empty", nil},
		"no such time": {"a.csv", ok, `has no column "when" with times; it has time, host, v`, []string{"time=when"}},
		"no times":     {"a.csv", "a,b\n1,2\n", "no column of", nil},
		"line":         {"a.lp", "m,h=x v=1 1\nm,h=x v= 2\n", "a.lp:2: v has no value", nil},
		"line time":    {"a.lp", "m,h=x v=1 1\nm,h=x v=1\n", "a.lp:2: the row has no time", nil},
		"json":         {"a.ndjson", "{\"time\":1704067200,\"v\":1}\n{\"time\":\n", "a.ndjson:2: the JSON of the line is cut off", nil},
		"json list":    {"a.ndjson", "{\"time\":1704067200,\"v\":1}\n[1]\n", "a.ndjson:2: the line is not a JSON object", nil},
		"parquet":      {"a.parquet", "PAR1 and nothing more PAR1", "is not a Parquet file that can be read", nil},
		"type":         {"a.csv", ok, `unknown type "number"`, []string{"fields=v:number"}},
		"no type":      {"a.csv", ok, "field v has no type; write it as v:float", []string{"fields=v", "time-format=rfc3339", "time=time", "table=a"}},
		"twice":        {"a.csv", ok, "column v is both time, tag or field", []string{"fields=v:int", "tags=v", "table=a", "time=time", "time-format=rfc3339"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.file, c.text)
			_, err := inspect(t, append([]string{"files=" + path}, c.settings...)...)
			var bad *workload.SpecError
			if !errors.As(err, &bad) || !strings.Contains(bad.Problem, c.want) || strings.Contains(bad.Problem, "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Of record batches the row group and the row are named.
func TestRefusedRecords(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	made, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 1, Scale: 2, Start: start, End: start.Add(time.Minute), Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parquet", "arrow"} {
		format, err := generate.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "data")
		out, err := format.Create(path, made.Schema())
		if err == nil {
			err = out.Write(t.Context(), made.Open(), func(int) {})
		}
		if err == nil {
			err = out.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		for fields, want := range map[string]string{
			"region:int": "cpu." + name + ":row group 0:row 0: column region: \"", "usage_user:int32": "cpu." + name + ": column usage_user has type int64 in the file, which is not int32",
			"usage_user:int, usage_usr:float": `no file has a column "usage_usr"; did you mean "usage_user"`, "usage_user:int": "",
		} {
			_, err := inspect(t, "files="+path, "time=time", "time-format=timestamp", "table=cpu", "fields="+fields)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", fields, err, want)
			}
		}
	}
}

// A surveyed specification is rejected if the files have changed since, and gives the same result
// if they have not.
func TestPinned(t *testing.T) {
	path := write(t, "a.csv", "time,host,v\n2024-01-01T00:00:00Z,x,1\n2024-01-01T00:00:10Z,x,2\n")
	found, err := inspect(t, "files="+path)
	if err != nil {
		t.Fatal(err)
	}
	w := owndata.Workload(duckdb.Library())
	again, err := w.(workload.Surveyed).Survey(t.Context(), found.Spec, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := workload.Fingerprint(w, again), workload.Fingerprint(owndata.Workload(duckdb.Library()), found.Spec); a != b {
		t.Errorf("fingerprints %s, with the files, and %s, without", a, b)
	}
	if v := w.Describe(again).Values; v.Step != 10*time.Second || !v.Last.Equal(time.Date(2024, 1, 1, 0, 0, 10, 0, time.UTC)) {
		t.Errorf("values are %+v", v)
	}
	if err := os.WriteFile(path, []byte("time,host,v\n2024-01-01T00:00:00Z,x,1\n2024-01-01T00:00:10Z,x,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := owndata.Workload(duckdb.Library()).Check(found.Spec); err == nil || !strings.Contains(err.Error(), "the files are not those of the experiment") {
		t.Errorf("got %v", err)
	}
}

// Of rows with one series and time the one that came last stays.
func TestLatest(t *testing.T) {
	path := write(t, "a.csv", `time,host,v
1704067200,x,1
1704067201,x,2
1704067200,y,3
1704067200,x,4
1704067201,x,5
1704067202,x,6
1704067202,x,7
1704067200,x,8
1704067199,y,9
`)
	d := openOwn(t, "files="+path)
	wantStrings(t, read(t, d.(workload.Repeating).Latest()),
		"a host=y 2024-01-01T00:00:00Z v=3", "a host=x 2024-01-01T00:00:01Z v=5", "a host=x 2024-01-01T00:00:02Z v=7", "a host=x 2024-01-01T00:00:00Z v=8", "a host=y 2023-12-31T23:59:59Z v=9")
	d = openOwn(t, "files="+write(t, "a.csv", "time,host,v\n1704067200,x,1\n1704067200,x,2\n1704067200,y,3\n1704067201,x,4\n1704067200,y,5\n"))
	wantStrings(t, read(t, d.(workload.Repeating).Latest()), "a host=x 2024-01-01T00:00:00Z v=2", "a host=x 2024-01-01T00:00:01Z v=4", "a host=y 2024-01-01T00:00:00Z v=5")
}

// An interrupted survey ends with the context's error.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	spec := workload.Spec{Name: "own", Settings: workload.Settings{"own.files": "testdata/btcusd.csv", "own.columns": "time,price,amount"}}
	if _, err := owndata.Inspect(ctx, owndata.Workload(duckdb.Library()), spec, func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
