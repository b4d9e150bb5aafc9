package unpack_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
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
	for name, raw := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes()} {
		for n := 4; n < len(raw); n++ { // cut off anywhere
			content, packed, err := unpack.Reader(&file{Reader: bytes.NewReader(raw[:n])})
			if err == nil {
				_, err = io.ReadAll(content)
			}
			if bad := (*unpack.Damaged)(nil); !packed || !errors.As(err, &bad) || !strings.Contains(err.Error(), "is cut off; copy it again") {
				t.Errorf("%s, %d of %d bytes: packed %v, %v", name, n, len(raw), packed, err)
			}
		}
		raw[len(raw)-3] ^= 0xff
		content, _, err := unpack.Reader(&file{Reader: bytes.NewReader(raw)})
		if err == nil {
			_, err = io.ReadAll(content)
		}
		if bad := (*unpack.Damaged)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "copy it again") {
			t.Errorf("%s with another byte: %v", name, err)
		}
	}
	if content, packed, err := unpack.Reader(&file{Reader: bytes.NewReader(nil)}); err != nil || packed {
		t.Errorf("nothing is packed %v, %v", packed, err)
	} else if got, err := io.ReadAll(content); err != nil || len(got) > 0 {
		t.Errorf("nothing is %q, %v", got, err)
	}
}
