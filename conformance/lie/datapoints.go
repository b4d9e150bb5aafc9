package lie

import (
	"encoding/json"
	"math"
)

// The ends of the paths at which KairosDB is written and queried.
const (
	writesPoints  = "/datapoints"
	queriesPoints = "/datapoints/query"
)

// pointSeries is a series of a request to KairosDB.
type pointSeries struct {
	Name   string            `json:"name"`
	Type   string            `json:"type"`
	Tags   map[string]string `json:"tags"`
	Points [][]any           `json:"datapoints"`
}

// points applies the lie to rows of the table in a request to KairosDB.
func (p *proxy) points(body []byte) ([]byte, error) {
	var request []pointSeries
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	all := make([]*timeSeries, len(request))
	for i, s := range request {
		key, err := json.Marshal(s.Tags) // whose keys it sorts
		if err != nil {
			return nil, err
		}
		all[i] = &timeSeries{name: s.Name, key: string(key)}
		for _, point := range s.Points {
			at, ok := point[0].(float64)
			value, ok1 := point[1].(float64)
			if !ok || !ok1 { // such as the note
				return body, nil
			}
			all[i].samples = append(all[i].samples, sample{math.Float64bits(value), uint64(at)})
		}
	}
	p.samples(all)
	told := []pointSeries{}
	for i, s := range request {
		s.Points = nil
		for _, one := range all[i].samples {
			s.Points = append(s.Points, []any{one.time, math.Float64frombits(one.value)})
		}
		if s.Points != nil {
			told = append(told, s)
		}
	}
	return json.Marshal(told)
}
