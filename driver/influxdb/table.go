package influxdb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// told is the answer to a SHOW, of which the names are read as well.
type told struct {
	Results []struct {
		Error  string `json:"error"`
		Series []struct {
			Name    string            `json:"name"`
			Tags    map[string]string `json:"tags"`
			Columns []string          `json:"columns"`
			Values  [][]any           `json:"values"`
		} `json:"series"`
	} `json:"results"`
}

// shown is a row of such an answer: its tags and columns as texts, by their
// names, and the name of its series by seriesName.
type shown map[string]string

// seriesName is no name of a tag or column.
const seriesName = ""

// table returns the rows that a SHOW gives.
func (d *database) table(ctx context.Context, text string) ([]shown, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := d.admin.client.Bounded(ctx)
	defer cancel()
	request, err := d.admin.request(ctx, http.MethodGet, text)
	if err != nil {
		return nil, err
	}
	response, err := d.admin.client.Answer(request, explained)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	defer response.Body.Close()
	var t told
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber() // no integer becomes a double
	if err := decoder.Decode(&t); err != nil {
		return nil, fmt.Errorf("%s: reading the answer: %w", text, err)
	}
	var rows []shown
	for _, result := range t.Results {
		if result.Error != "" {
			return nil, fmt.Errorf("%s: %w", text, said(result.Error))
		}
		for _, series := range result.Series {
			for _, values := range series.Values {
				row := shown(maps.Clone(series.Tags))
				if row == nil {
					row = shown{}
				}
				row[seriesName] = series.Name
				for i, v := range values[:min(len(values), len(series.Columns))] {
					row[series.Columns[i]] = fmt.Sprint(v)
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}
