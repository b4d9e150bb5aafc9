package lie

import (
	"encoding/json"
	"math"
	"strconv"
)

// The ends of the paths at which OpenTSDB is written and queried.
const (
	writesPuts  = "/api/put"
	queriesPuts = "/api/query"
)

// put is a point of a request to OpenTSDB.
type put struct {
	Metric string            `json:"metric"`
	Time   uint64            `json:"timestamp"`
	Value  json.Number       `json:"value"`
	Tags   map[string]string `json:"tags"`
}

// puts applies the lie to rows of the table in a request to OpenTSDB.
func (p *proxy) puts(body []byte) ([]byte, error) {
	var request []put
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	all := make([]*timeSeries, len(request))
	for i, point := range request {
		key, err := json.Marshal(point.Tags) // whose keys it sorts
		if err != nil {
			return nil, err
		}
		value, err := point.Value.Float64()
		if err != nil {
			return nil, err
		}
		all[i] = &timeSeries{name: point.Metric, key: string(key), samples: []sample{{math.Float64bits(value), point.Time}}}
	}
	p.samples(all)
	told := []put{}
	for i, point := range request {
		for _, one := range all[i].samples {
			point.Value = json.Number(strconv.FormatFloat(math.Float64frombits(one.value), 'g', -1, 64))
			told = append(told, point)
		}
	}
	return json.Marshal(told)
}

// putsAnswer is an answer of OpenTSDB's: series, whose points stand behind what tells of
// them.
type putsAnswer []struct {
	Metric string            `json:"metric"`
	Tags   map[string]string `json:"tags"`
	Query  json.RawMessage   `json:"query,omitempty"`
	Points []json.RawMessage `json:"dps"`
}

// count implements rowsOf.
func (a putsAnswer) count() int {
	rows := 0
	for _, s := range a {
		rows += len(s.Points)
	}
	return rows
}

// with implements rowsOf.
func (a putsAnswer) with(order []int) ([]byte, error) {
	first := 0
	for i := range a {
		all := a[i].Points
		a[i].Points = []json.RawMessage{}
		for _, row := range within(order, first, len(all)) {
			a[i].Points = append(a[i].Points, all[row])
		}
		first += len(all)
	}
	return json.Marshal(a)
}
