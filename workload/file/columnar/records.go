//go:build !light

package columnar

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/unpack"
	"github.com/tsmark/tsmark/workload/file/input"
)

// checkWhole returns an error where a file does not begin or does not end as Parquet does.
func checkWhole(raw *os.File) error {
	info, err := raw.Stat()
	if err != nil {
		return err
	}
	begin, end := make([]byte, len(MagicParquet)), make([]byte, len(MagicParquet))
	_, err = raw.ReadAt(begin, 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case unpack.Compression(begin) != "":
		return errors.New("is Parquet that is compressed as a whole, whose parts cannot be found; decompress it, as by gunzip, unzstd or unzip")
	case string(begin) != MagicParquet:
		return errors.New("is not Parquet: it begins otherwise; " + input.NameFormat)
	}
	if _, err = raw.ReadAt(end, max(0, info.Size()-int64(len(end)))); err != nil {
		return err
	}
	if info.Size() < 3*int64(len(MagicParquet)) || string(end) != MagicParquet {
		return errors.New("is cut off: it does not end as Parquet does; " + input.CopyAgain)
	}
	return nil
}

// ReadProblem describes why the library cannot read a file of record batches: the file is damaged,
// or the library lacks a feature.
func ReadProblem(why any) string {
	text := fmt.Sprint(why)
	for _, lacks := range []string{"unimplemented", "not implemented", "not supported", "unsupported", "not yet"} {
		if strings.Contains(strings.ToLower(text), lacks) {
			return fmt.Sprintf("has an encoding, compression or type that tsmark cannot read (%s); write it again with others, as with Parquet's encoding PLAIN and compression zstd", text)
		}
	}
	return fmt.Sprintf("is damaged (%s); %s", text, input.CopyAgain)
}

// Open opens a file of record batches and reads the wanted columns; nil: all columns.
func Open(f input.File, format string, wanted func(string) bool) (source Source, closer io.Closer, err error) {
	raw, err := os.Open(f.Name)
	if err != nil {
		return nil, nil, infile.Unreadable(f.Name, err)
	}
	// The library panics for some files that are damaged.
	defer func() {
		if p := recover(); p != nil {
			raw.Close()
			source, closer, err = nil, nil, fmt.Errorf("%s %s", f.Name, ReadProblem(p))
		}
	}()
	fail := func(err error) (Source, io.Closer, error) {
		raw.Close()
		return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if format == input.FormatParquet {
		if err := checkWhole(raw); err != nil {
			return fail(err)
		}
		p, err := openParquet(raw, wanted)
		if err != nil {
			return fail(err)
		}
		return p, raw, nil
	}
	magic := make([]byte, len(MagicArrow))
	if _, err := raw.ReadAt(magic, 0); err != nil && !errors.Is(err, io.EOF) {
		return fail(err)
	}
	if string(magic) == MagicArrow {
		of, err := ipc.NewFileReader(raw, ipc.WithAllocator(bounded{memory.DefaultAllocator}))
		if err != nil {
			return fail(fmt.Errorf("is not a complete Arrow file (%w); %s", err, input.CopyAgain))
		}
		return &arrowFileSource{of: of}, raw, nil
	}
	content, _, err := unpack.Reader(raw)
	if err != nil {
		return fail(err)
	}
	of, err := ipc.NewReader(content, ipc.WithAllocator(bounded{memory.DefaultAllocator}))
	if err != nil {
		content.Close()
		return nil, nil, fmt.Errorf("%s: is not Arrow that can be read (%w); %s, or %s", f.Name, err, input.NameFormat, input.CopyAgain)
	}
	return &arrowStreamSource{of: of}, content, nil
}
