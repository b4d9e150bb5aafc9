package generate

import (
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/workload"
)

// counted is an io.Writer that only counts.
type counted int64

func (c *counted) Write(text []byte) (int, error) {
	*c += counted(len(text))
	return len(text), nil
}

// SizeOf passes over a dataset for how many bytes it has as a file of that format, compressed if the name
// ends with encode.Gzipped. It calls progress with the rows of each piece.
func SizeOf(ctx context.Context, d workload.Dataset, format string, progress func(rows int)) (int64, error) {
	f, err := encode.Loader(format)
	if err != nil {
		return 0, err
	}
	encoder, err := f.New(d.Schema())
	if err != nil {
		return 0, fmt.Errorf("the format %s cannot hold the dataset: %w", format, err)
	}
	reader := d.Open()
	if c, ok := reader.(io.Closer); ok {
		defer c.Close()
	}
	var size counted
	var file io.Writer = &size
	closeFile := func() error { return nil }
	if strings.HasSuffix(format, encode.Gzipped) {
		zipped := gzip.NewWriter(&size)
		file, closeFile = zipped, zipped.Close
	}
	if err := cmp.Or(Write(ctx, file, reader, encoder, progress), closeFile()); err != nil {
		return 0, fmt.Errorf("computing the dataset's size as a file of %s: %w", format, err)
	}
	return int64(size), nil
}
