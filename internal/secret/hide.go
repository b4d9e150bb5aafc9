package secret

import "reflect"

// Hide removes the secrets from every string that the pointer leads to: in structs, slices, maps
// (including their keys) and their elements. It skips fields with the tag redact:"-": names that a
// program must find again, and figures in text form.
//
// The texts of a record may come from anywhere, above all from servers: a list of the fields to
// check would miss the next one.
func (r *Redactor) Hide(pointer any) { Rewrite(pointer, r.storedText) }

// storedText is Text for texts that are checked again and again, whose memory the record needs anyway.
func (r *Redactor) storedText(text string) string {
	if _, clean := r.clean.Load(text); clean {
		return text
	}
	shown := r.Text(text)
	if shown == text {
		r.clean.Store(text, nil)
	}
	return shown
}

// Rewrite is Hide with another function than Redactor.Text: it replaces each string by the
// function's result.
func Rewrite(pointer any, text func(string) string) {
	rewriter(text).rewrite(reflect.ValueOf(pointer))
}

// rewriter returns the replacement of a text.
type rewriter func(string) string

func (r rewriter) rewrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			r.rewrite(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("redact") != "-" {
				r.rewrite(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if !holdsNumbers(v.Type().Elem()) {
			for i := range v.Len() {
				r.rewrite(v.Index(i))
			}
		}
	case reflect.Map:
		r.rewriteMap(v)
	case reflect.String:
		if v.CanSet() {
			v.SetString(r(v.String()))
		}
	}
}

// rewriteMap replaces map entries, which cannot be changed in place.
func (r rewriter) rewriteMap(m reflect.Value) {
	changed := reflect.MakeMapWithSize(m.Type(), m.Len())
	for entries := m.MapRange(); entries.Next(); {
		key, value := reflect.New(m.Type().Key()).Elem(), reflect.New(m.Type().Elem()).Elem()
		key.Set(entries.Key())
		value.Set(entries.Value())
		r.rewrite(key)
		r.rewrite(value)
		changed.SetMapIndex(key, value)
	}
	m.Clear()
	for entries := changed.MapRange(); entries.Next(); {
		m.SetMapIndex(entries.Key(), entries.Value())
	}
}

// holdsNumbers reports whether nothing of the type can be a text: there may be
// millions of them.
func holdsNumbers(t reflect.Type) bool {
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}
