package lineformat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// readPoints reads rows of the tables cpu and m, and returns them with the error. A null text
// keeps PointRows from reading lines in one pass.
func readPoints(t testing.TB, text, null string) string {
	t.Helper()
	tags, err := input.ParseList(`cpu(host, rack) m()`)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := input.ParseList(`cpu(a:int, b:float, c:text, d:bool, "e,x":int, f:float32, g:text3, h:int32) m(v:float)`)
	if err != nil {
		t.Fatal(err)
	}
	index, err := input.NewIndex("", tags, fields)
	if err != nil {
		t.Fatal(err)
	}
	clock, err := input.NewClock("ns")
	if err != nil {
		t.Fatal(err)
	}
	f := &input.Filler{Finder: input.Finder{Index: index}, Clock: clock, Null: null}
	rows := NewPointRows(NewPointLines(strings.NewReader(text)), NewHeads(index))
	var out strings.Builder
	var b series.Batch
	for {
		f.Reset(&b, 7)
		err := rows.Next(f)
		f.End()
		for i := range b.Runs {
			writeRun(&out, &b.Runs[i])
		}
		if errors.Is(err, io.EOF) {
			fmt.Fprintf(&out, "%d ignored, %d finer", f.Ignored, clock.Finer)
			return out.String()
		} else if err != nil {
			place := rows.Place()
			fmt.Fprintf(&out, "line %d: %v", place.Line, err)
			return out.String()
		}
	}
}

func writeRun(out *strings.Builder, run *series.Run) {
	for row := range run.Times {
		fmt.Fprintf(out, "%s %d %d", run.Table.Name, run.Series[row], run.Times[row])
		for i := range run.Columns {
			switch c, of := &run.Columns[i], &run.Table.Fields[i]; {
			case run.Lacks(i, row):
				out.WriteString(" -")
			case of.Free():
				fmt.Fprintf(out, " %q", c.Text(row))
			case of.Type.UsesInts():
				fmt.Fprintf(out, " %d", c.Ints[row])
			default:
				fmt.Fprintf(out, " %v", c.Floats[row])
			}
		}
		out.WriteByte('\n')
	}
}

// A line that is read in one pass has the values, and the error, that it has when it is cut first.
func FuzzFastLines(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(randomLines(rand.New(rand.NewPCG(seed, 1))))
	}
	f.Add("cpu a=1i,b=2 1\ncpu a=1i,b=2 1\ncpu b=2,a=1i 1\ncpu b=3,a=2i 1\ncpu b=3,a=2i,a=4i 1\n")
	f.Add("m v=1 1\nm v=1 1\nm v=1.5,u=\"a b\",w=1 2\nm v=1,u=\" 3\nm v=2\" 3\nm v=+1 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		const never = "\x00never\x00"
		if strings.Contains(text, never) {
			return
		}
		if fast, cut := readPoints(t, text, ""), readPoints(t, text, never); fast != cut {
			t.Errorf("%q is read in one pass as\n%s\nand otherwise as\n%s", text, fast, cut)
		}
	})
}

// randomLines returns lines that mostly have their fields in one order, and some mistakes.
func randomLines(r *rand.Rand) string {
	one := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	var text strings.Builder
	for range 12 {
		text.WriteString(one("cpu,host=a", "cpu,host=a", "cpu,host=b,rack=1", "cpu,rack=1,host=b", "m", `cpu,host=a\ b`, "other,x=1", "cpu") + " ")
		fields := []string{"a=1i", "b=2.5", `c="x y"`, "d=t", `e\,x=7i`, "f=0.1", `g="abc"`, "h=5i", `z="no, \"one\""`, "y=1"}
		if r.IntN(4) == 0 {
			fields = []string{"a=-9223372036854775808i", "b=" + one("-1e5", "NaN", "5.", "12345678901234567890"), `c="\"\\"`, "d=False", `e\,x=0i`, "f=3", `g="xyz"`, "h=-1i", "v=3"}
		}
		if r.IntN(5) == 0 {
			r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		}
		if r.IntN(30) == 0 {
			fields = append(fields, one("a=2i", "b=1i", "h=3000000000i", "a=1.5", "d=1", `g="ab"`, "b", "b=", "=1", "a=5u", `\a=1`, `c=x\ y`, "f=0x1"))
		}
		kept := fields[:0]
		for _, field := range fields {
			if r.IntN(6) > 0 {
				kept = append(kept, field)
			}
		}
		text.WriteString(strings.Join(kept, ",") + " " + one("100", "100", "200", "300", "-5", "1.5") + one("", "", "", "", "\r", " ") + "\n" + one("", "", "", "", "\n", "# comment\n"))
	}
	return text.String()
}

// BenchmarkPointRows reads lines in one pass, and cuts them first.
func BenchmarkPointRows(b *testing.B) {
	schema := &series.Schema{Series: 1, Tables: []*series.Table{{Name: "cpu"}}}
	t := schema.Tables[0]
	for i := range 10 {
		t.Fields = append(t.Fields, series.Field{Name: fmt.Sprint("usage_", i), Type: series.Int})
	}
	const rows = 1000
	var batch series.Batch
	run := batch.Add(t)
	run.Grow(rows)
	for row := range rows {
		run.Series[row], run.Times[row] = 0, 1451606400000000000+int64(row/100)*1e9
		for i := range t.Fields {
			run.Columns[i].Ints[row] = int64(row * i % 101)
		}
	}
	lines := bytes.Split(encode.NewLineProtocol(schema).Append(nil, &batch), []byte{'\n'})[:rows]
	clock, err := input.NewClock("ns")
	if err != nil {
		b.Fatal(err)
	}
	for _, null := range []string{"", "none"} {
		b.Run(map[string]string{"": "fast", "none": "cut"}[null], func(b *testing.B) {
			f := &input.Filler{Clock: clock, Generated: true, Null: null}
			p := NewPointRows(nil, NewGeneratedHeads(schema, false))
			b.ReportAllocs()
			for b.Loop() {
				f.Reset(&batch, rows)
				for _, line := range lines {
					if err := p.Line(f, line); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
