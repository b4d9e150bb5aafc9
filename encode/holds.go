package encode

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// syntax describes the restrictions of a format on the names and tags of a dataset.
type syntax struct {
	tag    string // characters of tags' values
	name   string // characters of the names of tables, tags and fields
	key    string // further characters of tags' names
	table  string // a name that no table may have
	column string // a name that no tag or field may have
	// noEmpty means that an empty tag would be read as a missing one.
	noEmpty bool
	// backslash means that a backslash escapes: see series.Ambiguous.
	backslash bool
}

var (
	lineSyntax      = syntax{tag: "\n", name: "\n", column: "time", noEmpty: true, backslash: true}
	pairsSyntax     = syntax{tag: ",=\r\n", name: ",=\r\n", key: " ", table: "tags", noEmpty: true}
	crateSyntax     = syntax{name: ",\t\r\n", key: " ", table: "tags", noEmpty: true}
	cassandraSyntax = syntax{tag: ",=#\r\n", name: ",=#\r\n"}
	labelSyntax     = syntax{column: metricName, noEmpty: true}
)

const otherFormat = "choose the format parquet or arrow"

// check returns an error that names the first name or tag of a schema that the format
// cannot hold.
func (x *syntax) check(s *series.Schema) error {
	for _, t := range s.Tables {
		if err := x.checkName(t.Name, x.name); err != nil {
			return fmt.Errorf("table %q %w; rename it, or %s", t.Name, err, otherFormat)
		}
		if t.Name == x.table || x.backslash && (t.Name[0] == '#' || t.Name[0] < ' ') {
			return fmt.Errorf("a table called %q has another meaning there; rename it, or %s", t.Name, otherFormat)
		}
		for _, name := range t.ColumnNames() {
			characters := x.name
			if t.Tag(name) != nil {
				characters += x.key
			}
			if err := x.checkName(name, characters); err != nil {
				return fmt.Errorf("the name of tag or field %q of table %s %w; rename it, or %s", name, t.Name, err, otherFormat)
			}
			if name == x.column {
				return fmt.Errorf("a tag or field called %s, as in table %s, has another meaning there; rename it, or %s", name, t.Name, otherFormat)
			}
		}
		var value []byte
		own := s.Range(t)
		for i := range t.Tags {
			for n := own.First; !t.Tags[i].Numeric() && n < own.End; n++ {
				var has bool
				if value, has = t.Tags[i].Values.Append(value[:0], n); !has {
					continue
				}
				if err := x.checkTag(value); err != nil {
					return fmt.Errorf("tag %s of table %s has the value %q, which %w; %s", t.Tags[i].Key, t.Name, value, err, otherFormat)
				}
			}
		}
	}
	return nil
}

func (x *syntax) checkName(name, characters string) error {
	if name == "" {
		return fmt.Errorf("is empty")
	}
	return x.checkText(name, characters)
}

func (x *syntax) checkTag(value []byte) error {
	if x.noEmpty && len(value) == 0 {
		return fmt.Errorf("would be read as a missing tag")
	}
	return x.checkText(string(value), x.tag)
}

func (x *syntax) checkText(text, characters string) error {
	if i := strings.IndexAny(text, characters); i >= 0 {
		return fmt.Errorf("has %q, a character that the format cannot escape", text[i])
	}
	if x.backslash && series.Ambiguous([]byte(text)) {
		return fmt.Errorf("has a backslash that the format cannot tell from one that escapes")
	}
	return nil
}
