package unpack_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/internal/unpack"
)

// file counts how often it is closed.
type file struct {
	io.Reader
	closed int
}

func (f *file) Close() error { f.closed++; return nil }

func TestReader(t *testing.T) {
	const text = "a,b\n1,2\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write([]byte(text))
	g.Close()
	z, _ := zstd.NewWriter(&zst)
	z.Write([]byte(text))
	z.Close()
	for name, raw := range map[string][]byte{"plain": []byte(text), "gzip": gz.Bytes(), "zstd": zst.Bytes()} {
		in := &file{Reader: bytes.NewReader(raw)}
		content, packed, err := unpack.Reader(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(content)
		if err != nil || string(got) != text || packed != (name != "plain") {
			t.Errorf("%s: %q, packed %v, %v", name, got, packed, err)
		}
		if content.Close(); in.closed != 1 {
			t.Errorf("%s: closed %d times", name, in.closed)
		}
	}
	if content, packed, err := unpack.Reader(&file{Reader: bytes.NewReader(nil)}); err != nil || packed {
		t.Errorf("nothing is packed %v, %v", packed, err)
	} else if got, err := io.ReadAll(content); err != nil || len(got) > 0 {
		t.Errorf("nothing is %q, %v", got, err)
	}
}
