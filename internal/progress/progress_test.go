package progress

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
)

// clock is a time that passes when told.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// pass lets the display sample all the while.
func (c *clock) pass(d *Display, by time.Duration) {
	for end := c.t.Add(by); c.t.Before(end); {
		c.t = c.t.Add(sampling)
		d.sample()
	}
}

func newClock() *clock { return &clock{time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC)} }

func expect(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlain(t *testing.T) {
	var out strings.Builder
	c := newClock()
	d := newDisplay(&out, 10*time.Second, c.now)

	load := d.Start("load duckdb", "rows", 864_000)
	for range 100 { // 20 s at 21,600 rows/s
		load.Add(4320)
		c.pass(d, sampling)
	}
	d.Log("a remark")
	c.pass(d, 5*time.Second)
	load.Set(864_000)
	c.pass(d, 5*time.Second)
	load.Finish("")
	load.Fail("too late to count")

	oracle := d.Start("oracle", "rows", 0)
	oracle.Add(1_000_000)
	c.pass(d, 10*time.Second)
	query := d.Start("duckdb lastpoint", "queries", 1000)
	query.Add(7)
	oracle.Fail("the first row differs:\nhost_1")
	c.pass(d, 9*time.Second)
	query.Finish("verified")
	left := d.Start("duckdb high-cpu-1", "queries", 1000)
	left.Add(999)
	d.Close()
	d.Close()
	left.Finish("too late to count")
	d.Start("after the end", "rows", 5).Finish("")

	expect(t, `load duckdb: 216,000 of 864,000 rows (25 %), 21,600 rows/s, 30 s left
load duckdb: 432,000 of 864,000 rows (50 %), 21,600 rows/s, 20 s left
a remark
load duckdb: 864,000 of 864,000 rows (100 %), 28,896 rows/s
load duckdb: 864,000 rows in 30 s, 28,800 rows/s
oracle: 1,000,000 rows, 12,752 rows/s
oracle: failed: the first row differs: host_1
duckdb lastpoint: verified
duckdb high-cpu-1: stopped at 999 of 1,000 queries (99 %)
`, out.String())
}

// A task without figures shows only known facts, and a period of 0 shows only the end.
func TestPlainEdges(t *testing.T) {
	var out strings.Builder
	c := newClock()
	d := newDisplay(&out, time.Second, c.now)
	idle := d.Start("idle", "rows", 10)
	c.pass(d, time.Second)
	idle.Finish("")
	over := d.Start("over", "rows", 10)
	over.Set(11)
	c.pass(d, time.Second)
	over.Finish("")
	d.Start("instant", "rows", 10).Finish("")
	wait := d.Start("opening x (1m0s at most)", "", -1)
	c.pass(d, time.Second)
	wait.Fail("")
	d.Close()
	expect(t, `idle: 0 of 10 rows (0 %)
idle: 0 rows in 1.0 s, 0 rows/s
over: 11 of 10 rows (100 %), 9.6 rows/s
over: 11 rows in 1.0 s, 11 rows/s
instant: 0 rows in 0.0 s
opening x (1m0s at most) …
opening x (1m0s at most): 1 s
`, out.String())

	out.Reset()
	d = newDisplay(&out, 0, c.now)
	task := d.Start("quiet", "rows", 10)
	c.pass(d, time.Minute)
	task.Finish("fine")
	d.Close()
	expect(t, "quiet: fine\n", out.String())
}

func TestRate(t *testing.T) {
	c := newClock()
	var r rate
	r.start(c.t)
	if got := r.perSecond(); got != 0 {
		t.Errorf("at the start: %v", got)
	}
	step := func(n int, each int64) {
		for range n {
			c.t = c.t.Add(sampling)
			r.add(c.t, r.count+each)
		}
	}
	near := func(want float64) {
		t.Helper()
		if got := r.perSecond(); got < want*0.99-0.01 || got > want*1.01+0.01 {
			t.Errorf("got %v per second, want %v", got, want)
		}
	}
	step(1, 100)
	near(500) // right from the first sample
	step(10, 100)
	near(500)
	step(100, 1000)
	near(5000) // the past is forgotten
	step(200, 0)
	near(0) // nothing grows
	step(100, -10)
	if got := r.perSecond(); got != 0 {
		t.Errorf("shrinking: %v", got)
	}
}

// screen understands the little that frames use of a terminal's language.
type screen struct {
	width    int
	rows     [][]rune
	row, col int
}

func (s *screen) Write(p []byte) (int, error) {
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		for len(s.rows) <= s.row {
			s.rows = append(s.rows, nil)
		}
		switch r := text[i]; r {
		case '\n':
			s.row, s.col = s.row+1, 0
		case '\r':
			s.col = 0
		case '\x1b':
			j := i + 2
			for text[j] >= '0' && text[j] <= '9' {
				j++
			}
			n, _ := strconv.Atoi(string(text[i+2 : j]))
			switch text[j] {
			case 'A':
				s.row = max(s.row-n, 0)
			case 'J':
				s.rows = s.rows[:s.row+1]
				fallthrough
			case 'K':
				s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
			default:
				panic(fmt.Sprintf("unknown control sequence %q", text[i:j+1]))
			}
			i = j
		default:
			if s.col == s.width {
				s.row, s.col = s.row+1, 0
				for len(s.rows) <= s.row {
					s.rows = append(s.rows, nil)
				}
			}
			for len(s.rows[s.row]) <= s.col {
				s.rows[s.row] = append(s.rows[s.row], ' ')
			}
			s.rows[s.row][s.col] = r
			s.col++
		}
	}
	return len(p), nil
}

func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

func TestBars(t *testing.T) {
	s := &screen{width: 80}
	c := newClock()
	d := newDisplay(s, 10*time.Second, c.now)
	height := 24
	d.size = func() (int, int) { return s.width, height }

	load := d.Start("load duckdb", "rows", 8_640_000)
	c.pass(d, sampling)
	load.Set(4_320_000)
	c.pass(d, 2*time.Second)
	expect(t, "load duckdb  ━━━━━━━━━━━━━··············   50 %  1,471,097 rows/s  3 s left\n\n", s.String())
	load.Finish("")

	first := d.Start("duckdb lastpoint", "queries", 1000)
	second := d.Start("a-very-long-target-name single-groupby-5-8-1", "queries", 1000)
	third := d.Start("oracle", "rows", 0)
	for range 10 {
		first.Add(10)
		third.Add(1234)
		c.pass(d, sampling)
	}
	running := `duckdb lastpoint              ━·········   10 %      50 queries/s  18 s left
…t-name single-groupby-5-8-1  ··········    0 %        0 of 1,000
oracle                        12,340 rows, 6,170 rows/s, 2 s

`
	expect(t, "load duckdb: 4,320,000 rows in 2.2 s, 1,963,636 rows/s\n"+running, s.String())

	// A line wider than the screen takes the place of several bars.
	d.Log(strings.Repeat("long line ", 17))
	long := strings.Repeat("long line ", 8)[:79] + "\n" + strings.Repeat("long line ", 8)[:79] + "\nlong line\n"
	expect(t, "load duckdb: 4,320,000 rows in 2.2 s, 1,963,636 rows/s\n"+long+running, s.String())

	first.Finish("verified")
	second.Fail("it gave up")
	height = 1 // no room for bars
	c.pass(d, sampling)
	ended := "load duckdb: 4,320,000 rows in 2.2 s, 1,963,636 rows/s\n" + long +
		"duckdb lastpoint: verified\na-very-long-target-name single-groupby-5-8-1: failed: it gave up\n"
	expect(t, ended+"\n", s.String())
	d.Close()
	expect(t, ended+"oracle: stopped at 12,340 rows\n\n", s.String())
	if s.col != 0 {
		t.Errorf("the cursor is in column %d", s.col)
	}
}

// After the screen has become narrower, wrapped lines are overwritten.
func TestNarrowed(t *testing.T) {
	s := &screen{width: 80}
	c := newClock()
	d := newDisplay(s, 0, c.now)
	d.size = func() (int, int) { return s.width, 24 }
	d.Log("before")
	d.Start("load duckdb", "rows", 100)

	narrow := &screen{width: 40}
	for _, row := range s.rows[:s.row] {
		fmt.Fprintln(narrow, string(row))
	}
	s.width, s.rows, s.row = narrow.width, narrow.rows, narrow.row
	d.Log("after")
	expect(t, "before\nafter\nload duckdb    0 %\n\n", s.String())
}

// No line is wider than the terminal, however narrow that is.
func TestDrawWidth(t *testing.T) {
	c := newClock()
	d := newDisplay(nil, 0, c.now)
	var tasks []*Task
	for _, label := range []string{"a", "load duckdb", "größer 時系列データベース duckdb single-groupby-5-8-1"} {
		for _, total := range []int64{0, 100, 1 << 62} {
			task := &Task{d: d, label: label, unit: "queries", total: total, started: c.t}
			task.Set(12_345)
			task.rate.start(c.t)
			task.rate.add(c.t.Add(time.Second), 12_345)
			tasks = append(tasks, task)
		}
	}
	for width := range 140 {
		for _, line := range draw(tasks, c.t.Add(time.Hour), width) {
			if got := runewidth.StringWidth(line); got > width {
				t.Errorf("width %d: %q takes %d", width, line, got)
			}
			if width == 80 && strings.Contains(line, "%") && !strings.Contains(line, "queries/s") {
				t.Errorf("%q lacks its rate", line)
			}
		}
	}
}

func TestTexts(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 s", 1234 * time.Millisecond: "1.2 s", 9949 * time.Millisecond: "9.9 s", 9951 * time.Millisecond: "10 s",
		59 * time.Second: "59 s", 125 * time.Second: "2 min 5 s", 3 * time.Hour: "3 h 0 min",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%s) = %q, want %q", d, got, want)
		}
	}
	for perSecond, want := range map[float64]string{0: "0 rows/s", 0.04: "0.0 rows/s", 3.21: "3.2 rows/s", 9.96: "10 rows/s", 812_000.4: "812,000 rows/s"} {
		if got := speed(perSecond, "rows"); got != want {
			t.Errorf("speed(%v) = %q, want %q", perSecond, got, want)
		}
	}
	if got := bar(0.5, 4) + bar(0, 2) + bar(1, 2) + bar(7, 2); got != "━━····━━━━" {
		t.Errorf("bars %q", got)
	}
}

// Workers count, tasks come and go, and lines are logged, all at once.
func TestConcurrency(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		d := New(&screen{width: 80}, terminal, time.Millisecond)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				task := d.Start(fmt.Sprint("task ", i), "rows", 1000)
				for range 1000 {
					task.Add(1)
				}
				d.Log("half-way")
				if i%2 == 0 {
					task.Finish("")
				}
			})
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(2 * sampling)
			d.Close()
		}()
		wg.Wait()
	}
}

func TestIsTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsTerminal(f) {
		t.Errorf("%s is a terminal", os.DevNull)
	}
}

func BenchmarkAdd(b *testing.B) {
	task := New(&screen{width: 80}, false, 0).Start("task", "rows", int64(b.N))
	for b.Loop() {
		task.Add(1)
	}
}
