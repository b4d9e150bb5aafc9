package generate_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// golden is a line of the file of sums that TSBS itself produced.
type golden struct {
	name, format string
	spec         workload.Spec
	bytes        int64
	sum          string
}

func readGolden(t *testing.T) []golden {
	file, err := os.Open("testdata/tsbs-golden-data.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []golden
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		extra := ""
		if before, rest, ok := strings.Cut(line, `"`); ok {
			quoted, after, _ := strings.Cut(rest, `"`)
			line, extra = before+"-"+after, quoted
		}
		f := strings.Fields(line)
		number := func(s string) int64 {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				t.Fatalf("golden line %q: %v", line, err)
			}
			return n
		}
		end, err := time.Parse(time.RFC3339, f[3])
		if err != nil {
			t.Fatal(err)
		}
		g := golden{name: line + extra, format: f[5], bytes: number(f[6]), sum: f[7], spec: workload.Spec{
			Name: f[0], Seed: number(f[1]), Scale: uint32(number(f[2])),
			Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), End: end, Interval: 10 * time.Second,
		}}
		for _, flag := range strings.Fields(extra) {
			name, value, _ := strings.Cut(flag, "=")
			n := number(value)
			switch name {
			case "--initial-scale":
				g.spec.InitialScale = uint32(n)
			case "--max-data-points":
				g.spec.MaxPoints = uint64(n)
			case "--interleaved-generation-groups":
				g.spec.Groups = uint32(n)
			case "--interleaved-generation-group-id":
				g.spec.Group = uint32(n)
			default:
				t.Fatalf("golden line %q has an unknown flag %s", line, name)
			}
		}
		all = append(all, g)
	}
	return all
}

// TestGolden compares with every sum of TSBS's output in our use cases and
// formats.
func TestGolden(t *testing.T) {
	uses := map[string]workload.Workload{}
	for _, w := range tsbs.Workloads() {
		uses[w.Name()] = w
	}
	tested, formats := 0, encode.Formats()
	for _, g := range readGolden(t) {
		at := slices.IndexFunc(formats, func(f encode.Format) bool { return f.Name == g.format })
		use := uses[g.spec.Name]
		if use == nil || at < 0 {
			continue
		}
		tested++
		t.Run(g.name, func(t *testing.T) {
			dataset, err := use.Dataset(g.spec)
			if err != nil {
				t.Fatal(err)
			}
			out := counter{hash: sha256.New()}
			encoder, err := formats[at].New(dataset.Schema())
			if err != nil {
				t.Fatal(err)
			}
			err = generate.Write(context.Background(), &out, dataset.Open(), encoder, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			if sum := hex.EncodeToString(out.hash.Sum(nil)); out.n != g.bytes || sum != g.sum {
				t.Errorf("%d bytes, sum %s; TSBS wrote %d, %s", out.n, sum, g.bytes, g.sum)
			}
		})
	}
	if tested != 100 {
		t.Errorf("%d golden lines tested, the file has 100 in our use cases and formats", tested)
	}
}
