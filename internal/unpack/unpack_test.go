package unpack_test

import (
	"archive/zip"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/tsmark/tsmark/internal/unpack"
)

const bzip2Text = "425a6839314159265359bf87407f00000359000010000430003000200030c00869b28823278bb9229c28485fc3a03f80"

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
	var xzs bytes.Buffer
	x, _ := xz.NewWriter(&xzs)
	x.Write([]byte(text))
	x.Close()
	// printf 'a,b\n1,2\n' | bzip2
	bz2, _ := hex.DecodeString(bzip2Text)
	for name, raw := range map[string][]byte{"plain": []byte(text), "gzip": gz.Bytes(), "zstd": zst.Bytes(), "xz": xzs.Bytes(), "bzip2": bz2} {
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
	for name, raw := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes(), "xz": xzs.Bytes(), "bzip2": bz2} {
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

func TestZIP(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"folder/", "folder/t.csv", "__MACOSX/t.csv"}, "a,b\n"},
		{[]string{"a.csv", "b.csv"}, "is a ZIP archive of 2 files, and one is read; unpack it, and give the folder"},
		{[]string{"[Content_Types].xml", "xl/workbook.xml"}, "is a file of Excel or another Office program; save the sheet as CSV"},
	} {
		path := filepath.Join(t.TempDir(), "t.zip")
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		for _, name := range c.names {
			w, _ := z.Create(name)
			if !strings.HasSuffix(name, "/") {
				w.Write([]byte("a,b\n"))
			}
		}
		z.Close()
		for _, size := range []int{packed.Len(), packed.Len() - 30} {
			want := c.want
			if size < packed.Len() {
				want = "its compressed content is cut off; copy it again, or make it again"
			}
			if err := os.WriteFile(path, packed.Bytes()[:size], 0o666); err != nil {
				t.Fatal(err)
			}
			raw, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			content, _, err := unpack.Reader(raw)
			if err == nil {
				got, err = io.ReadAll(content)
			}
			raw.Close()
			if err != nil && err.Error() != want || err == nil && string(got) != want {
				t.Errorf("%q, %d of %d bytes: %q, %v", c.names, size, packed.Len(), got, err)
			}
		}
	}
}

// The second filter byte of the block's header claims 4 GiB.
func TestLargeDictionary(t *testing.T) {
	var packed bytes.Buffer
	z, _ := xz.NewWriter(&packed)
	z.Write([]byte("a,b\n"))
	z.Close()
	raw := packed.Bytes()
	at := bytes.Index(raw, []byte{0x21, 0x01})
	raw[at+2] = 40
	if _, _, err := unpack.Reader(&file{Reader: bytes.NewReader(raw)}); err == nil || !strings.Contains(err.Error(), "it claims a dictionary of more than 1024 MiB") {
		t.Errorf("%v", err)
	}
}
