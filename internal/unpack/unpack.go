// Package unpack reads files that may be compressed.
package unpack

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// maxMemory bounds what a frame of zstd, or a block of xz, may claim.
const maxMemory = 1 << 30

// Damaged is the error of damaged compressed content.
type Damaged struct{ Err error } // io.ErrUnexpectedEOF: truncated

// Error says how to fix it.
func (d *Damaged) Error() string {
	if errors.Is(d.Err, io.ErrUnexpectedEOF) {
		return "its compressed content is cut off; copy it again, or make it again"
	}
	return fmt.Sprintf("its compressed content is damaged (%v); copy it again, or make it again", d.Err)
}

// Unwrap returns what the decompression said.
func (d *Damaged) Unwrap() error { return d.Err }

// damageError turns an error of decompression into a *Damaged; an error of reading the file itself
// is unchanged.
func damageError(err error) error {
	var path *fs.PathError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &path) {
		return err
	}
	return &Damaged{err}
}

// checked is content whose errors are passed through damageError.
type checked struct{ from io.Reader }

// Read implements io.Reader.
func (c checked) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	return n, damageError(err)
}

// compression is one way to compress a file.
type compression struct {
	name, extension, magic string
	open                   func(in *bufio.Reader, raw io.ReadCloser) (content io.Reader, free func(), err error)
}

var compressions = [...]compression{
	{"gzip", ".gz", "\x1f\x8b", func(in *bufio.Reader, _ io.ReadCloser) (io.Reader, func(), error) {
		z, err := gzip.NewReader(in)
		if errors.Is(err, io.EOF) { // behind its first bytes
			err = io.ErrUnexpectedEOF
		}
		return z, nil, err
	}},
	{"zstd", ".zst", "\x28\xb5\x2f\xfd", func(in *bufio.Reader, _ io.ReadCloser) (io.Reader, func(), error) {
		z, err := zstd.NewReader(in, zstd.WithDecoderMaxMemory(maxMemory))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}},
	{"xz", ".xz", "\xfd7zX", func(in *bufio.Reader, _ io.ReadCloser) (io.Reader, func(), error) {
		if err := checkDictionary(in); err != nil {
			return nil, nil, err
		}
		from := &xzInput{from: in}
		z, err := xz.NewReader(from)
		return &xzContent{z, from}, nil, err
	}},
	{"bzip2", ".bz2", "BZh", func(in *bufio.Reader, _ io.ReadCloser) (io.Reader, func(), error) {
		return bzip2.NewReader(in), nil, nil
	}},
	{"zip", ".zip", "PK\x03\x04", openZIP},
}

// TrimExtension cuts the extension of a compression off a file's name.
func TrimExtension(name string) string {
	for i := range compressions {
		if e := compressions[i].extension; len(name) > len(e) && strings.EqualFold(name[len(name)-len(e):], e) {
			return name[:len(name)-len(e)]
		}
	}
	return name
}

// find returns the compression by a file's first bytes, at least four of them; nil: it is not
// compressed.
func find(begin []byte) *compression {
	for i := range compressions {
		c := &compressions[i]
		if bytes.HasPrefix(begin, []byte(c.magic)) && (c.name != "bzip2" || len(begin) > 3 && begin[3] >= '1' && begin[3] <= '9') {
			return c
		}
	}
	return nil
}

// Compression names the compression of a file by its first bytes, at least four of them; empty: it
// is not compressed.
func Compression(begin []byte) string {
	if c := find(begin); c != nil {
		return c.name
	}
	return ""
}

// Reader returns the content of raw, decompressed if its first bytes are those of a compression;
// packed reports whether they are. Closing content closes raw; after an error the caller must close
// raw.
func Reader(raw io.ReadCloser) (content io.ReadCloser, packed bool, err error) {
	peeked := bufio.NewReaderSize(raw, 64<<10)
	magic, err := peeked.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	c := find(magic)
	if c == nil {
		return reader{peeked, raw, nil}, false, nil
	}
	plain, free, err := c.open(peeked, raw)
	if kind := (*archiveError)(nil); errors.As(err, &kind) {
		return nil, true, err
	} else if err != nil {
		return nil, true, damageError(err)
	}
	return reader{checked{plain}, raw, free}, true, nil
}

// archiveError is the error of an archive that is not one compressed file.
type archiveError struct{ problem string }

func (e *archiveError) Error() string { return e.problem }

// openZIP opens the only file of a ZIP archive.
func openZIP(_ *bufio.Reader, raw io.ReadCloser) (io.Reader, func(), error) {
	file, ok := raw.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	})
	if !ok {
		return nil, nil, &archiveError{"is a ZIP archive, which can be read from a regular file alone; save it to one, or unpack it"}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &archiveError{"is a ZIP archive, which can be read from a regular file alone; save it to one, or unpack it"}
	}
	archive, err := zip.NewReader(file, info.Size())
	if errors.Is(err, zip.ErrFormat) { // it lacks the directory at its end
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, err
	}
	var found []*zip.File
	for _, f := range archive.File {
		switch {
		case f.Name == "[Content_Types].xml":
			return nil, nil, &archiveError{"is a file of Excel or another Office program; save the sheet as CSV"}
		case f.FileInfo().IsDir(), strings.HasPrefix(f.Name, "__MACOSX/"):
		default:
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return nil, nil, &archiveError{fmt.Sprintf("is a ZIP archive of %d files, and one is read; unpack it, and give the folder", len(found))}
	}
	if found[0].Flags&1 != 0 {
		return nil, nil, &archiveError{"is a ZIP archive with a password; unpack it"}
	}
	content, err := found[0].Open()
	if err != nil {
		return nil, nil, err
	}
	return content, func() { content.Close() }, nil
}

// xzInput remembers how the bytes end that were read, without padding.
type xzInput struct {
	from io.Reader
	last [2]byte
}

// Read implements io.Reader.
func (x *xzInput) Read(p []byte) (int, error) {
	n, err := x.from.Read(p)
	end := bytes.TrimRight(p[:n], "\x00")
	for _, b := range end[max(0, len(end)-len(x.last)):] {
		x.last = [2]byte{x.last[1], b}
	}
	return n, err
}

// xzContent is the content of xz. The library takes some that is cut off for the whole.
type xzContent struct {
	content io.Reader
	from    *xzInput
}

// Read implements io.Reader.
func (x *xzContent) Read(p []byte) (int, error) {
	n, err := x.content.Read(p)
	if errors.Is(err, io.EOF) && x.from.last != [2]byte{'Y', 'Z'} {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// checkDictionary returns an error where the first block of xz claims more memory than maxMemory:
// https://tukaani.org/xz/xz-file-format.txt, 3.1 and 5.3.1.
func checkDictionary(in *bufio.Reader) error {
	const streamHeader, lzma2, most = 12, 0x21, 36 // 36: 1 GiB
	begin, _ := in.Peek(streamHeader + 32)
	if len(begin) < streamHeader+2 || begin[streamHeader] == 0 {
		return nil
	}
	at, flags := streamHeader+2, begin[streamHeader+1]
	for _, has := range []byte{0x40, 0x80} { // the sizes, as numbers of seven bits a byte
		for flags&has != 0 && at < len(begin) {
			at++
			if begin[at-1] < 0x80 {
				break
			}
		}
	}
	if at+2 < len(begin) && begin[at] == lzma2 && begin[at+2] > most {
		return fmt.Errorf("it claims a dictionary of more than %d MiB", maxMemory>>20)
	}
	return nil
}

// reader is the content and its underlying file.
type reader struct {
	io.Reader
	raw  io.Closer
	free func() // ends the decompression; nil: nothing to do
}

// Close implements io.Closer.
func (r reader) Close() error {
	if r.free != nil {
		r.free()
	}
	return r.raw.Close()
}
