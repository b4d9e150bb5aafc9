package tsbs

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

func textsFor(t *testing.T, format, use, queryType string, n int) ([]Text, error) {
	t.Helper()
	spec := goldenSpec()
	spec.Name = use
	sequence, err := Texts(format, spec, queryType, n)
	if err != nil {
		return nil, err
	}
	var list []Text
	for text := range sequence {
		list = append(list, text)
	}
	if len(list) != n {
		t.Fatalf("%s %s: %d texts, want %d", format, queryType, len(list), n)
	}
	return list, nil
}

// useCaseOf is a use case that has a type.
func useCaseOf(t *testing.T, queryType string) string {
	for _, use := range []string{"cpu-only", "iot"} {
		if typeOf(use, queryType) != nil {
			return use
		}
	}
	t.Fatalf("no use case has %s", queryType)
	return ""
}

// The first 100 texts of every type for every database, byte for byte as TSBS's
// generator makes them, and none where it panics.
func TestTextsGoldenSums(t *testing.T) {
	file, err := os.Open("testdata/tsbs-golden-queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if f[0] == "#" {
			continue
		}
		format, queryType, want := f[0], f[1], f[2]
		list, err := textsFor(t, format, useCaseOf(t, queryType), queryType, 100)
		seen[format]++
		if want == "(panics)" {
			if !errors.Is(err, query.ErrUnsupported) || !strings.Contains(err.Error(), "TSBS has no text for "+queryType+" for "+format) {
				t.Errorf("%s %s: error %v, want that TSBS has no text", format, queryType, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", format, queryType, err)
			continue
		}
		hash := sha256.New()
		for _, text := range list {
			hash.Write([]byte(text.String() + "\n"))
		}
		if got := hex.EncodeToString(hash.Sum(nil))[:16]; got != want {
			t.Errorf("%s %s: sum %s, TSBS has %s; the first is\n%s", format, queryType, got, want, list[0])
		}
	}
	for format, n := range map[string]int{FormatTimescaleDB: 29, FormatInflux: 29, FormatQuestDB: 16, FormatClickHouse: 16, FormatVictoriaMetrics: 16, FormatTDengine: 16} {
		if seen[format] != n {
			t.Errorf("%d types of %s compared, want %d", seen[format], format, n)
		}
	}
}

// The example texts, for a difference that a reader can see.
func TestTextExamples(t *testing.T) {
	tested := 0
	for _, name := range []string{"testdata/tsbs-query-examples-devops.txt", "testdata/tsbs-query-examples-iot.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range strings.Split(string(data), "##### ")[1:] {
			title, body, _ := strings.Cut(section, "\n")
			queryType, format, _ := strings.Cut(title, " ")
			list, err := textsFor(t, format, useCaseOf(t, queryType), queryType, 1)
			if body == "" {
				if !errors.Is(err, query.ErrUnsupported) {
					t.Errorf("%s: error %v, want that there is no text", title, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", title, err)
				continue
			}
			got := list[0].String()
			if name == "testdata/tsbs-query-examples-iot.txt" && list[0].Raw != "" { // which shows of a request the statement only
				got = "LABEL=" + list[0].Label + "\nDESC=" + list[0].Description + "\nRAW=" + list[0].Raw
			}
			if tested++; strings.TrimRight(got, "\n") != strings.TrimRight(body, "\n") {
				t.Errorf("%s: got\n%s\nTSBS has\n%s", title, got, body)
			}
		}
	}
	if tested != 61 {
		t.Errorf("%d examples tested", tested)
	}
}

// Databases and types that TSBS does not know have no text, and a dataset that is too
// short is told as it is without texts.
func TestNoText(t *testing.T) {
	for _, c := range []struct{ format, use, queryType, says string }{
		{"duckdb", "cpu-only", "lastpoint", "TSBS has no text for lastpoint"},
		{FormatInflux, "iotdb", "latest-value", "TSBS has no text for latest-value"},
		{FormatQuestDB, "iot", "last-loc", "TSBS has no text for last-loc for questdb"},
		{FormatTDengine, "iot", "avg-load", "TSBS has no text for avg-load for tdengine"},
		{FormatClickHouse, "iot", "avg-load", "TSBS has no text for avg-load for clickhouse"},
	} {
		if _, err := textsFor(t, c.format, c.use, c.queryType, 1); !errors.Is(err, query.ErrUnsupported) || !strings.HasSuffix(err.Error(), c.says) {
			t.Errorf("%s %s: error %v, want %q", c.format, c.queryType, err, c.says)
		}
	}
	spec := goldenSpec()
	spec.Scale = 31
	_, err := Texts(FormatInflux, spec, "cpu-max-all-32-24", 1)
	var bad *workload.SpecError
	if !errors.As(err, &bad) || bad.Setting != "scale" {
		t.Errorf("error %v, want one about --scale", err)
	}
}

// Texts of one number are about other hosts where TSBS draws them in another order.
func TestTextsDrawTheirOwn(t *testing.T) {
	for format, want := range map[string]string{FormatTimescaleDB: "'host_35'", FormatClickHouse: "'host_35'", FormatInflux: "'host_49'", FormatQuestDB: "'host_49'", FormatTDengine: "FROM host_3 "} {
		if list, err := textsFor(t, format, "cpu-only", "high-cpu-1", 1); err != nil || !strings.Contains(list[0].Statement(), want) {
			t.Errorf("%s: %v %v, want %s", format, list, err, want)
		}
	}
}
