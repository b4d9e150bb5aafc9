package influxdb

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads an object, calling member for each of its members, which reads
// the value.
func (a *answer) object(member func(name string) error) error {
	if err := a.expect(jsontext.KindBeginObject); err != nil {
		return err
	}
	for a.decoder.PeekKind() == jsontext.KindString {
		token, err := a.decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := member(token.String()); err != nil {
			return err
		}
	}
	return a.expect(jsontext.KindEndObject)
}

// array reads an array, calling element for each of its elements, which reads
// it.
func (a *answer) array(element func() error) error {
	if err := a.expect(jsontext.KindBeginArray); err != nil {
		return err
	}
	for {
		switch a.decoder.PeekKind() {
		case jsontext.KindEndArray, jsontext.KindInvalid:
			return a.expect(jsontext.KindEndArray)
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// expect reads a token of the kind.
func (a *answer) expect(kind jsontext.Kind) error {
	token, err := a.decoder.ReadToken()
	if err == nil && token.Kind() != kind {
		err = fmt.Errorf("the answer has %v where %v was expected; is this InfluxDB?", token.Kind(), kind)
	}
	return err
}
