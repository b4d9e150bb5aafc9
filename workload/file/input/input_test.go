package input

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-29T12:34:56Z":                "2024-02-29T12:34:56Z",
		"2024-02-29 12:34:56":                 "2024-02-29T12:34:56Z",
		"2024-02-29":                          "2024-02-29T00:00:00Z",
		"2024-02-29 12:34":                    "2024-02-29T12:34:00Z",
		"2024-02-29T12:34:56.123456789+05:30": "2024-02-29T07:04:56.123456789Z",
		"1969-12-31T23:59:59.5-0100":          "1970-01-01T00:59:59.5Z",
		"2024-02-29 12:34:56 UTC":             "2024-02-29T12:34:56Z",
		"2023-02-29":                          "",
		"2024-13-01":                          "",
		"2024-01-01T24:00:00Z":                "",
		"2024-01-01T00:00:00X":                "",
		"1500-01-01":                          "",
		"":                                    "",
	} {
		c, _ := NewClock(AsText)
		got, err := c.Read([]byte(text))
		if err != nil && want != "" || err == nil && time.Unix(0, got).UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %v, %v; want %q", text, time.Unix(0, got).UTC(), err, want)
		}
	}
	for _, epoch := range []struct {
		format, text string
		want         int64
	}{
		{"s", "1", 1e9}, {"ms", "-5", -5e6}, {"us", "7", 7e3}, {"ns", "9", 9}, {"s", "1.25", 125e7}, {"s", "-0.5", -5e8}, {"ms", "1.0000019", 1e6 + 1},
		{"02/01/2006 15:04", "03/01/1970 00:00", 2 * 24 * 3600 * 1e9},
	} {
		c, err := NewClock(epoch.format)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Read([]byte(epoch.text)); err != nil || got != epoch.want {
			t.Errorf("%s %s is %d, %v; want %d", epoch.text, epoch.format, got, err, epoch.want)
		}
	}
	for _, text := range []string{"9300000000", "x", "1.x", ""} {
		c, _ := NewClock("s")
		if got, err := c.Read([]byte(text)); err == nil {
			t.Errorf("%q is %d seconds", text, got)
		}
	}
}

// The clock reads what package time writes.
func FuzzClock(f *testing.F) {
	f.Add(int64(0), int32(0))
	f.Add(int64(1<<62), int32(3600))
	f.Add(int64(-1<<62), int32(-5*3600-1800))
	f.Fuzz(func(t *testing.T, ns int64, offset int32) {
		at := time.Unix(0, ns).In(time.FixedZone("", int(offset%(14*60))*60))
		if y := at.Year(); y < MinYear || y > MaxYear {
			return
		}
		c, _ := NewClock(AsText)
		if got, err := c.Read([]byte(at.Format(time.RFC3339Nano))); err != nil || got != ns {
			t.Errorf("%s is %d, %v; want %d", at.Format(time.RFC3339Nano), got, err, ns)
		}
	})
}

// Lists are read as they were written.
func FuzzList(f *testing.F) {
	for _, text := range []string{"a, b:float", `cpu(a:int, "b c":text3) mem()`, "a)", "a(b(c))", `"`, "a:", "a:text11"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseList(text)
		if err != nil {
			return
		}
		written := FormatList(list)
		again, err := ParseList(written)
		if err != nil || FormatList(again) != written {
			t.Fatalf("%q is written as %q, and read as %+v, %v", text, written, again, err)
		}
	})
}

func TestUnits(t *testing.T) {
	for epoch, want := range map[int64]string{0: "s", 1_704_067_200: "s", 1_704_067_200_000: "ms", 1_704_067_200_000_000: "us", 1_704_067_200_000_000_000: "ns", -1_704_067_200_000: "ms"} {
		if got := UnitOf(float64(epoch)); got != want {
			t.Errorf("%d is in %s, want %s", epoch, got, want)
		}
	}
}
