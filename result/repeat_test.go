package result

import (
	"reflect"
	"testing"
)

// The verdict over several repeats has everything that one of them found.
func TestPoolVerdicts(t *testing.T) {
	var one Verdict
	fields := reflect.ValueOf(&one).Elem()
	for i := range fields.NumField() {
		switch f := fields.Field(i); f.Kind() {
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(i) + 1)
		case reflect.String:
			f.SetString(fields.Type().Field(i).Name)
		default:
			t.Fatalf("field %s has a kind that the test does not know", fields.Type().Field(i).Name)
		}
	}
	pooled, _ := PoolVerdicts([]*Queries{{}, {Verdict: one}, {Verdict: one}})
	for i := range fields.NumField() {
		name, got := fields.Type().Field(i).Name, reflect.ValueOf(pooled).Field(i)
		switch f := fields.Field(i); f.Kind() {
		case reflect.Int, reflect.Int64:
			if got.Int() != 2*f.Int() {
				t.Errorf("%s is %d, not %d", name, got.Int(), 2*f.Int())
			}
		default:
			if got.String() != f.String() {
				t.Errorf("%s is %q", name, got.String())
			}
		}
	}
}
