package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/twin"
	"github.com/tsmark/tsmark/workload/twin/fit"
)

// ofFile is the dataset of a file with rows.
func ofFile(t testing.TB, name, text string) workload.Dataset {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own := owndata.Workload(nil)
	found, err := owndata.Inspect(t.Context(), own, workload.Spec{Settings: workload.Settings{"own.files": owndata.QuoteFile(file)}}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	d, err := own.Dataset(found.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// measure measures a dataset.
func measure(t testing.TB, d workload.Dataset) *fit.Statistics {
	t.Helper()
	s, err := fit.Measure(t.Context(), d, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// twinOf returns the specification of the twin of measured data, its model and its dataset.
func twinOf(t testing.TB, s *fit.Statistics, keepNames bool) (workload.Spec, *twin.Model, workload.Dataset) {
	t.Helper()
	spec, err := s.Spec(keepNames)
	if err != nil {
		t.Fatal(err)
	}
	model, err := twin.Parse(spec.Settings[twin.ModelKey])
	if err != nil {
		t.Fatal(err)
	}
	d, err := twin.Workload().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	return spec, model, d
}

// checkTwin fails if a figure of a twin differs from that of the original.
func checkTwin(t *testing.T, name string, original *fit.Statistics, d workload.Dataset) {
	t.Helper()
	lines := fit.Compare(original, measure(t, d))
	for _, l := range lines {
		if l.Differs {
			t.Errorf("%s: %s, %s: %s, and %s of the twin", name, l.Of, l.What, l.Original, l.Twin)
		}
	}
	if len(lines) < 10 {
		t.Errorf("%s: only %d figures", name, len(lines))
	}
}

// sensors is CSV of sensors with all classes of values. The test expects to find
// its parameters.
func sensors() string {
	const interval, count, rows = 5 * time.Minute, 30, 6 * 288
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	type sensor struct {
		level, noise, walk float64
		total              int64
		state              string
		on                 bool
		late               []string // held back, with the number of steps that are left
		left               []int
	}
	sensors := make([]sensor, count)
	for i := range sensors {
		s := &sensors[i]
		s.level, s.state = 20+5*random.NormFloat64(), "idle"
		s.noise = 2 * s.level // the levels correlate
	}
	var text strings.Builder
	text.WriteString("time,sensor,site,model,temperature,power,pressure,total,state,on,code\n")
	for row := range rows {
		for i := range sensors {
			s := &sensors[i]
			at := start.Add(time.Duration(row)*interval + time.Duration(random.NormFloat64()*8)*time.Second)
			hour := float64(at.Unix()%86400) / 86400 * 2 * math.Pi
			s.walk = 0.98*s.walk + 0.2*random.NormFloat64()
			if s.total += int64(random.ExpFloat64() * 50); random.Float64() < 0.002 {
				s.total = 0
			}
			if random.Float64() < 0.02 {
				s.state = []string{"idle", "idle", "busy", "failed"}[random.IntN(4)]
			}
			if random.Float64() < 0.1 {
				s.on = random.Float64() < 0.3
			}
			power := fmt.Sprintf("%.3f", s.noise+random.ExpFloat64())
			if random.Float64() < 0.05 {
				power = ""
			}
			code := []int{200, 200, 200, 404, 500}[random.IntN(5)]
			line := fmt.Sprintf("%s,sensor %d,site-%d,%c,%.1f,%s,%.2f,%d,%s,%v,%d\n", at.Format(time.RFC3339), i, i%4, 'A'+i%2, s.level+3*math.Sin(hour)+random.NormFloat64(), power, 1000+s.walk, s.total, s.state, s.on, code)
			for k := 0; k < len(s.late); k++ {
				if s.left[k]--; s.left[k] < 0 {
					text.WriteString(s.late[k])
					s.late, s.left = append(s.late[:k], s.late[k+1:]...), append(s.left[:k], s.left[k+1:]...)
					k--
				}
			}
			switch x := random.Float64(); {
			case x < 0.01: // a gap
			case x < 0.03: // late
				s.late, s.left = append(s.late, line), append(s.left, 1+random.IntN(4))
			default:
				text.WriteString(line)
			}
		}
	}
	return text.String()
}

// TestRecovers makes the twin of a file whose parameters are known: the model has them, and the twin
// has the same statistics.
func TestRecovers(t *testing.T) {
	original := measure(t, ofFile(t, "sensors.csv", sensors()))
	spec, model, d := twinOf(t, original, true)
	g := &model.Groups[0]
	table := &g.Tables[0]
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("series", float64(g.Series), 30, 0)
	near("interval in seconds", spec.Interval.Seconds(), 300, 0.5)
	near("jitter", table.Jitter, 8*math.Sqrt2/300, 0.005)
	near("gaps", table.Gaps.Share, 0.01, 0.003)
	near("late rows", table.Late.Share, 0.02, 0.004)
	near("median delay in seconds", twin.Ranked(floats(table.Late.Delays)).Value(0.5)/1e9, 750, 200)
	for i, want := range []twin.Tag{{Name: "sensor", Values: 30, Grows: true}, {Name: "site", Values: 4, Of: "sensor"}, {Name: "model", Values: 2, Of: "site"}} {
		if got := g.Tags[i]; got.Name != want.Name || got.Values != want.Values || got.Of != want.Of || got.Grows != want.Grows {
			t.Errorf("tag %+v, want %+v", got, want)
		}
	}
	fields := map[string]*twin.Field{}
	for i := range table.Fields {
		fields[table.Fields[i].Name] = &table.Fields[i]
	}
	for name, class := range map[string]string{
		"temperature": twin.Daily, "power": twin.Noise, "pressure": twin.Walk, "total": twin.Counter, "state": twin.Category, "on": twin.Category, "code": twin.Codes,
	} {
		if got := fields[name]; got == nil || got.Class != class {
			t.Fatalf("field %s: %+v, want class %s", name, got, class)
		}
	}
	near("level of temperature", fields["temperature"].Level.Mean(), 20, 2)
	near("spread of temperature", fields["temperature"].Spread.Mean(), math.Sqrt(4.5+1), 0.1)
	near("NULL of power", fields["power"].Null, 0.05, 0.005)
	near("autocorrelation of pressure", fields["pressure"].Memory, 0.98, 0.02)
	near("increase of total", fields["total"].Level.Mean(), 49.5, 2)
	near("resets of total", fields["total"].Resets, 0.002, 0.0006)
	near("on", fields["on"].Shares[1], 0.3, 0.03)
	near("idle", fields["state"].Shares[0], 0.5, 0.06)
	for name, digits := range map[string]int{"temperature": 1, "power": 3, "pressure": 2} {
		if got := fields[name].Digits; got == nil || *got != digits {
			t.Errorf("digits of %s: %v, want %d", name, got, digits)
		}
	}
	correlated := false
	for _, c := range table.LevelsCorrelate {
		correlated = correlated || c.Fields[0] == "temperature" && c.Fields[1] == "power" && c.R > 0.95
	}
	if !correlated {
		t.Errorf("levels of temperature and power do not correlate: %v", table.LevelsCorrelate)
	}
	checkTwin(t, "sensors", original, d)

	// A twin of the twin is like it, too.
	again, _, d := twinOf(t, measure(t, d), false)
	if again.Interval != spec.Interval {
		t.Errorf("interval %v of the twin's twin, want %v", again.Interval, spec.Interval)
	}
	checkTwin(t, "twin of the twin", original, d)
}

func floats(list []time.Duration) []float64 {
	var out []float64
	for _, d := range list {
		out = append(out, float64(d))
	}
	return out
}

// TestEvents makes the twin of rows without an interval: trips, with tags that do not depend on each
// other, some of them missing.
func TestEvents(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var text strings.Builder
	for range 20_000 {
		at = at.Add(time.Duration(random.ExpFloat64() * float64(20*time.Second)))
		zone, payment := fmt.Sprintf(",zone=z%d", int(random.ExpFloat64()*6)), ""
		if p := int(random.ExpFloat64() * 1.5); p > 0 {
			payment = fmt.Sprintf(",payment=p%d", min(p, 4))
		}
		fare := 3 + 4*random.ExpFloat64()
		fmt.Fprintf(&text, "trips%s%s fare=%.2f,passengers=%di,note=\"%x\" %d\n", payment, zone, fare, 1+int(random.ExpFloat64()), random.Uint64()>>random.IntN(40), at.UnixNano()/1000*1000)
	}
	original := measure(t, ofFile(t, "trips.lp", text.String()))
	_, model, d := twinOf(t, original, true)
	for _, tag := range model.Groups[0].Tags {
		if model.Groups[0].Tables[0].Regular || tag.Of != "" || tag.Name == "payment" && tag.Missing < 0.05 {
			t.Errorf("times are regular, or a tag depends on another, or no series lacks %+v", tag)
		}
	}
	checkTwin(t, "trips", original, d)
}

// FuzzPrivacy checks that a twin has no text of the data.
func FuzzPrivacy(f *testing.F) {
	f.Add("Springfield", uint64(1))
	f.Add("Jane Q. Public", uint64(2))
	f.Add("Ωmega-9", uint64(3))
	f.Fuzz(func(t *testing.T, word string, seed uint64) {
		word = strings.Map(func(r rune) rune {
			if r < ' ' || r == '"' || r == ',' || r == 0x7f || r == '\uFFFD' || r == '\uFEFF' {
				return -1
			}
			return r
		}, word)
		if len(word) < 4 || len(word) > 100 || strings.Contains("sensor text true NULL None NaN nan", word) {
			t.Skip()
		}
		of := func(word string) string {
			random := rand.New(rand.NewPCG(seed, 5))
			var text strings.Builder
			fmt.Fprintf(&text, "time,\"tag %[1]s\",\"%[1]s kind\",\"value %[1]s\",\"note %[1]s\",\"%[1]s code\"\n", word)
			for row := range 300 {
				rare := ""
				if row == 17 {
					rare = word
				}
				fmt.Fprintf(&text, "%d,\"%s %d\",\"%s%s\",%d,\"%s%s %d\",%d\n", 1_700_000_000+row/5*60, word, row%5, word, rare, random.IntN(1000), word, rare, random.IntN(3), 1000+random.IntN(3))
			}
			spec, _, _ := twinOf(t, measure(t, ofFile(t, "rows.csv", text.String())), false)
			return fmt.Sprint(spec)
		}
		// Words that every twin has, such as "tables", are not those of the data.
		if strings.Contains(of("Qwxyz"), word) {
			t.Skip()
		}
		if made := of(word); strings.Contains(made, word) {
			t.Errorf("the twin has %q:\n%s", word, made)
		}
	})
}

// TestRare checks that the twin does not show rare values: the text and the number that one row has,
// and the tag of one series.
func TestRare(t *testing.T) {
	var text strings.Builder
	text.WriteString("time,host,status,code,v\n")
	for row := range 4000 {
		status, code, v := "running", 1, float64(row%7)
		if row%3 == 0 {
			status, code = "down", 2
		}
		if row == 1234 {
			status, code, v = "secret", 77, 987654.3
		}
		fmt.Fprintf(&text, "%d,h%d,%s,%d,%.1f\n", 1_700_000_000+row/4*10, row%4, status, code, v)
	}
	_, model, _ := twinOf(t, measure(t, ofFile(t, "rows.csv", text.String())), true)
	made := model.String()
	for _, secret := range []string{"secret", "77", "98765", "987", "running", "h0"} {
		if strings.Contains(made, secret) {
			t.Errorf("the twin has %s:\n%s", secret, made)
		}
	}
	if f := model.Groups[0].Tables[0].Fields[2]; f.Class != twin.Category || len(f.Shares) != 2 || f.Others != 1 {
		t.Errorf("status: %+v", f)
	}
}

// TestSmallTables checks that tables with few of many series have twins of their own.
func TestSmallTables(t *testing.T) {
	var text strings.Builder
	for row := range 4 {
		for host := range 5000 {
			fmt.Fprintf(&text, "many,host=h%d v=%d %d\n", host, row, (1_700_000_000+int64(row)*600)*1e9)
		}
	}
	const tables, rows = 10, 30
	for row := range rows {
		for i := range tables {
			fmt.Fprintf(&text, "few%d,site=s%d v=%d,w=%d.5 %d\n", i, i, row%7, row*row%11, (1_700_000_000+int64(row)*60)*1e9)
		}
	}
	_, model, _ := twinOf(t, measure(t, ofFile(t, "rows.lp", text.String())), true)
	found := 0
	for _, g := range model.Groups {
		for _, table := range g.Tables {
			if strings.HasPrefix(table.Name, "few") && table.Regular && table.Fields[0].Class == twin.Noise {
				found++
			}
		}
	}
	if found != tables {
		t.Errorf("%d of %d small tables are regular, with noise:\n%s", found, tables, model)
	}
}

// TestTooFew checks the errors of data that has no twin.
func TestTooFew(t *testing.T) {
	const header = "time,host,v\n"
	for rows, want := range map[string]string{
		"2026-01-01T00:00:00Z,a,1\n":                     "a twin needs at least 10 rows, at two different times or more; rows: 1, ",
		strings.Repeat("2026-01-01T00:00:00Z,a,1\n", 20): "two different times",
	} {
		if _, err := measure(t, ofFile(t, "rows.csv", header+rows)).Spec(false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
