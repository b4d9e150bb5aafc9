package owndata_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tsmark/tsmark/internal/boundtest"
	"github.com/tsmark/tsmark/workload"
)

// inspectDamaged looks at a file of any bytes, which ends in rows or in one line.
func inspectDamaged(t testing.TB, format string, content []byte) {
	path := filepath.Join(t.TempDir(), "t."+format)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := inspect(t, "files="+path, "format="+format)
	var bad *workload.SpecError
	if err != nil && (!errors.As(err, &bad) || strings.Contains(bad.Problem, "\n")) {
		t.Errorf("%s: got %v", format, err)
	}
}

// Damaged files of record batches end in one line, and in no panic.
func TestDamagedRecords(t *testing.T) {
	for _, format := range []string{"arrow", "parquet"} {
		content, err := os.ReadFile(smallRecords(t, format))
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 300 {
			t.Run(fmt.Sprint(format, i), func(t *testing.T) {
				damaged := append([]byte{}, content...)
				for range 1 + i%4 {
					damaged[random.IntN(len(damaged))] = byte(random.Uint32())
				}
				if i%10 == 0 {
					damaged = damaged[:random.IntN(len(damaged))]
				}
				inspectDamaged(t, format, damaged)
			})
		}
	}
}

func smallRecords(t testing.TB, format string) string {
	return recordsFile(t, format, arrow.BinaryTypes.String, func(b array.Builder) {
		b.(*array.StringBuilder).AppendValues([]string{"a", "bc", ""}, []bool{true, true, false})
	})
}

func FuzzArrow(f *testing.F) { fuzzRecords(f, "arrow") }

func FuzzParquet(f *testing.F) { fuzzRecords(f, "parquet") }

// fuzzRecords damages a whole file. Bytes that a fuzzer makes up hardly ever have the head, the
// lengths and the end without which a file is refused at once.
func fuzzRecords(f *testing.F, format string) {
	content, err := os.ReadFile(smallRecords(f, format))
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8) {
		random := rand.New(rand.NewPCG(seed, 3))
		damaged := bytes.Clone(content)
		for range changes % 8 {
			boundtest.Damage(damaged, random)
		}
		if random.IntN(10) == 0 {
			damaged = damaged[:random.IntN(len(damaged))]
		}
		inspectDamaged(t, format, damaged)
	})
}
