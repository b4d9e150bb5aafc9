package input

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// Column is a tag or a field as settings name it.
type Column struct {
	Name string
	Kind series.Type // of a field; 0: it was left out
	Size int         // characters of a text; 0: any number
}

// Section is the columns of one table.
type Section struct {
	Table   string // empty: the only one
	Columns []Column
}

// ParseList parses the names of columns, separated by commas or blanks: pickup, fare:float. Columns
// of several tables are in parentheses after the table's name: cpu(user:float, system:float)
// mem(used:int). A name with characters other than letters, digits and _ . - / must be in double
// quotes.
func ParseList(text string) ([]Section, error) {
	var list []Section
	rest := text
	open := false
	var seen map[string]bool // the columns of the section at hand
	for {
		rest = strings.TrimLeft(rest, ", \t\r\n")
		if rest == "" {
			break
		}
		if rest[0] == ')' {
			if !open {
				return nil, fmt.Errorf("a bracket is closed that was not opened, before %q", rest)
			}
			open, rest = false, rest[1:]
			continue
		}
		name, after, err := cutName(rest)
		if err != nil {
			return nil, err
		}
		rest = after
		if strings.HasPrefix(rest, "(") {
			if open {
				return nil, fmt.Errorf("brackets within brackets, at %q", name+rest)
			}
			if len(list) > 0 && list[0].Table == "" {
				return nil, fmt.Errorf("column %q is outside of the brackets of a table", list[0].Columns[0].Name)
			}
			list, rest, open = append(list, Section{Table: name}), rest[1:], true
			continue
		}
		c := Column{Name: name}
		if strings.HasPrefix(rest, ":") {
			end := strings.IndexAny(rest[1:], "), \t\r\n")
			kind := rest[1:]
			if end >= 0 {
				kind = kind[:end]
			}
			rest = rest[1+len(kind):]
			if c.Kind, c.Size, err = parseType(kind); err != nil {
				return nil, fmt.Errorf("column %s: %w", name, err)
			}
		}
		switch {
		case len(list) == 0:
			list = append(list, Section{})
		case !open && list[len(list)-1].Table != "":
			return nil, fmt.Errorf("column %q is outside of the brackets of a table", name)
		}
		into := &list[len(list)-1]
		if seen == nil || len(into.Columns) == 0 {
			seen = make(map[string]bool)
		}
		if seen[name] {
			return nil, fmt.Errorf("column %q is there twice", name)
		}
		seen[name] = true
		into.Columns = append(into.Columns, c)
	}
	if open {
		return nil, fmt.Errorf("the bracket behind %s is not closed", list[len(list)-1].Table)
	}
	return list, nil
}

// cutName cuts a name off a text that is not empty.
func cutName(text string) (name, rest string, err error) {
	if text[0] == '"' {
		quoted, err := strconv.QuotedPrefix(text)
		if err == nil {
			name, err = strconv.Unquote(quoted)
		}
		if err != nil || name == "" {
			return "", "", fmt.Errorf("%s is not a name in quotes", text)
		}
		return name, text[len(quoted):], nil
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !plainRune(r) })
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return "", "", fmt.Errorf("%q begins with a character that names have only in double quotes", text)
	}
	return text[:end], text[end:], nil
}

// plainRune reports whether a name may have the character without quotes.
func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-/", r)
}

// parseType reads the type of a field: one of series.Types by its name, a text of one
// length with the number of its characters, as text3.
func parseType(text string) (series.Type, int, error) {
	if digits, ok := strings.CutPrefix(text, series.Text.String()); ok && digits != "" {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > series.MaxText {
			return 0, 0, fmt.Errorf("texts of one length have 1 to %d digits and letters, as in text3; write text for others", series.MaxText)
		}
		return series.Text, n, nil
	}
	var names []string
	for _, t := range series.Types() {
		if t == series.Blob {
			continue
		}
		if t.String() == text {
			return t, 0, nil
		}
		names = append(names, t.String())
	}
	return 0, 0, fmt.Errorf("unknown type %q; write one of %s or text1 to text%d", text, strings.Join(names, ", "), series.MaxText)
}

// FormatList is the inverse of ParseList.
func FormatList(list []Section) string {
	var out strings.Builder
	for i, s := range list {
		if i > 0 {
			out.WriteString(", ")
		}
		if s.Table != "" {
			out.WriteString(QuoteName(s.Table) + "(")
		}
		for j, c := range s.Columns {
			if j > 0 {
				out.WriteString(", ")
			}
			out.WriteString(QuoteName(c.Name))
			if c.Kind != 0 {
				out.WriteString(":" + TypeName(c.Kind, c.Size))
			}
		}
		if s.Table != "" {
			out.WriteByte(')')
		}
	}
	return out.String()
}

func TypeName(t series.Type, size int) string {
	if t == series.Text && size > 0 {
		return t.String() + strconv.Itoa(size)
	}
	return t.String()
}

func QuoteName(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !plainRune(r) }) {
		return strconv.Quote(name)
	}
	return name
}
