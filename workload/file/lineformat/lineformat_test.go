package lineformat

import (
	"bytes"
	"testing"
)

// The parts of a line of line protocol together are the whole line, and nothing panics.
func FuzzLineProtocol(f *testing.F) {
	for _, text := range []string{
		`cpu,host=a usage=1.5,n=2i 1451606400000000000`, `m\,x,a\ b=c\=d f="x, y\" z",g=t 1`, `m f=1`, ` `, `m,a= f=1 2`, `a b="c`, `a b=\" 1`, `m f="a\\" 1`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := []byte(text)
		if len(line) == 0 {
			return
		}
		cut, err := cutPoint(line)
		if err != nil {
			return
		}
		whole := append(append(append([]byte{}, cut.Head...), cut.Fields...), cut.Time...)
		if !bytes.Equal(bytes.ReplaceAll(whole, []byte(" "), nil), bytes.ReplaceAll(line, []byte(" "), nil)) {
			t.Fatalf("%q was cut into %q, %q and %q", line, cut.Head, cut.Fields, cut.Time)
		}
		if _, tags, err := CutHead(cut.Head, nil); err == nil {
			for _, tag := range tags {
				PlainText(nil, tag.Key)
				if bytes.IndexByte(tag.Value, '=') >= 0 && !bytes.Contains(tag.Value, []byte(`\=`)) {
					t.Fatalf("the tag %q of %q has a plain equals sign", tag.Value, line)
				}
			}
		}
		length := 0
		for rest := cut.Fields; len(rest) > 0; {
			of, after, err := CutField(rest)
			if err != nil {
				return
			}
			if len(after) > 0 {
				length++
			}
			length += len(of.Key) + len(of.Value) + 1
			rest = after
			if of.Value[0] == '"' {
				Unquote(nil, of.Value)
			} else {
				_, _, _ = ValueType(of.Value)
			}
			PlainText(nil, of.Key)
		}
		if length != len(cut.Fields) {
			t.Fatalf("the pairs of %q have %d bytes", cut.Fields, length)
		}
	})
}
