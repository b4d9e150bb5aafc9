package iotdb

import (
	"errors"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// missing is the node of a tag that a series lacks. An equal value, or one that is not allowed as a
// node, is prefixed by a backslash.
const missing = "null"

// appendNode appends a node of a path, quoted if necessary.
func appendNode(dst []byte, name string) []byte {
	if plainName(name) {
		return append(dst, name...)
	}
	dst = append(dst, '`')
	for i := range len(name) {
		if name[i] == '`' {
			dst = append(dst, '`')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '`')
}

// node is appendNode of a text alone.
func node(name string) string { return string(appendNode(nil, name)) }

// plainName reports whether a name needs no quotes.
func plainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// escaped reports whether a tag's value is prefixed by a backslash in a path.
func escaped(value string) bool {
	rest := strings.TrimLeft(value, `\`)
	return rest == missing || reservedNode(rest)
}

// reservedNode reports whether a name is not allowed as a node, not even in quotes, whatever its case.
func reservedNode(name string) bool {
	return slices.ContainsFunc([]string{"root", "time", "timestamp"}, func(word string) bool { return strings.EqualFold(name, word) })
}

// tagNode returns the node of a tag's value.
func tagNode(value string) string {
	if escaped(value) {
		value = `\` + value
	}
	return node(value)
}

// appendTag appends the node of a series' tag. It uses the caller's scratch memory.
func appendTag(dst, scratch []byte, t *series.Tag, s uint32) (out, used []byte) {
	scratch, ok := t.Values.Append(scratch[:0], s)
	if !ok {
		return append(dst, missing...), scratch
	}
	value := view(scratch)
	if escaped(value) {
		return append(dst, tagNode(value)...), scratch
	}
	return appendNode(dst, value), scratch
}

// nodes splits a path in a result into its nodes. It reuses its memory.
type nodes struct {
	list []query.Value
	text []byte
}

var errPath = errors.New("the answer has an invalid path")

// cut splits a device's path and skips the first nodes. A missing tag is NULL.
func (n *nodes) cut(path []byte, skip int) error {
	n.list, n.text = n.list[:0], n.text[:0]
	for at := 0; at <= len(path); skip-- {
		begin := len(n.text)
		quoted := at < len(path) && path[at] == '`'
		if quoted {
			for at++; ; at++ {
				if at >= len(path) {
					return errPath
				}
				if path[at] == '`' {
					if at++; at >= len(path) || path[at] != '`' {
						break
					}
				}
				n.text = append(n.text, path[at])
			}
			if at < len(path) && path[at] != '.' {
				return errPath
			}
		} else {
			for at < len(path) && path[at] != '.' {
				n.text = append(n.text, path[at])
				at++
			}
		}
		at++ // the dot
		if skip > 0 {
			continue
		}
		// If appending moved the text, earlier slices still refer to the old array.
		value := n.text[begin:len(n.text):len(n.text)]
		switch {
		case string(value) == missing:
			n.list = append(n.list, query.Value{})
			continue
		case len(value) > 0 && value[0] == '\\' && escaped(string(value[1:])):
			value = value[1:]
		}
		n.list = append(n.list, query.Value{Kind: query.Text, Text: value})
	}
	return nil
}
