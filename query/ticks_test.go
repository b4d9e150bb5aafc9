package query

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
)

// tickShapes has each shape of ticks, with all of its fields.
func tickShapes() []Shape {
	return []Shape{
		Candles{"price", "size", time.Minute, "symbol"}, Weighted{"price", "size", time.Hour, "symbol"},
		AsOf{"symbol", []string{"price"}, "quotes", []string{"bid", "ask"}, time.Second},
		Around{"symbol", []string{"price"}, "quotes", "ask", "bid", time.Second, time.Minute},
		Movers{"price", "symbol", 3}, Gaps{"price", "symbol", time.Minute}, Profile{"size", time.Minute},
		Nth{"symbol", "condition", "opening", 10, []string{"price"}},
	}
}

func tickSchema(rename func(string) string) *series.Schema {
	name := func(names ...string) (fields []series.Field) {
		for _, n := range names {
			f := series.Field{Name: rename(n), Type: series.Float}
			if n == "condition" {
				f.Type = series.Text
			}
			fields = append(fields, f)
		}
		return fields
	}
	tags := []series.Tag{{Key: rename("symbol")}}
	return &series.Schema{Tables: []*series.Table{
		{Name: rename("trades"), Tags: tags, Fields: name("price", "size", "condition")}, {Name: rename("quotes"), Tags: tags, Fields: name("bid", "ask")},
	}}
}

// A shape of ticks is read as it was stored. Rename renames all of its names.
func TestTicksStored(t *testing.T) {
	prefix := func(name string) string {
		if name == "" {
			return ""
		}
		return "x" + name
	}
	for _, s := range tickShapes() {
		q, back := Query{Type: "x", ID: 2, Table: "trades", Shape: s}, Query{}
		text, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(q, back) {
			t.Errorf("%s is read as %+v, %v", text, back, err)
		}
		if err := q.CheckIn(tickSchema(func(name string) string { return name })); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
		renamed, err := q.Rename(prefix, prefix)
		if err == nil {
			err = renamed.CheckIn(tickSchema(prefix))
		}
		if err != nil {
			t.Errorf("%+v renamed: %v", s, err)
		}
		if err := q.RefuseRare("InfluxQL"); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "tsmark has no InfluxQL for ") {
			t.Errorf("%+v is refused by %v", s, err)
		}
	}
}

// A shape of ticks that has no meaning is refused.
func TestTicksCheck(t *testing.T) {
	price := []string{"price"}
	for says, q := range map[string]Query{
		"no filter":             {Filter: &ValueFilter{Field: "price"}, Shape: Gaps{"price", "symbol", 1}},
		"names no tag":          {Shape: Movers{"price", "", 1}},
		"no width":              {Shape: Weighted{"price", "size", 0, "symbol"}},
		"joins 0 fields":        {Shape: AsOf{"symbol", price, "quotes", nil, 0}},
		"with itself":           {Shape: AsOf{"symbol", price, "trades", price, 0}},
		`no table "bids"`:       {Shape: AsOf{"symbol", price, "bids", price, 0}},
		`quotes has no field`:   {Shape: AsOf{"symbol", price, "quotes", price, 0}},
		`mean of field ""`:      {Shape: Around{"symbol", price, "quotes", "", "", 1, 1}},
		"top 0":                 {Shape: Movers{"price", "symbol", 0}},
		"gaps longer":           {Shape: Gaps{"price", "symbol", -1}},
		"divide a day":          {Shape: Profile{"size", 7 * time.Second}},
		"type of field price":   {Shape: Nth{"symbol", "price", "", 1, price}},
		"row 0":                 {Shape: Nth{"symbol", "condition", "", 0, price}},
		"field condition for a": {Shape: Movers{"condition", "symbol", 1}},
	} {
		q.Table = "trades"
		if err := q.CheckIn(tickSchema(func(name string) string { return name })); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: error %v, want %q", q.Shape, err, says)
		}
	}
}
