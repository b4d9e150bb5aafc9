package iotdb

// Ingestion is the tool's name for writing a batch.
const Ingestion = "INGESTION"

// Operation returns the tool's name of a query type. A limit, which only the paper has, is named in
// the same style. The result is empty for an unknown type.
func Operation(queryType string) string {
	return map[string]string{
		"precise-point":      "PRECISE_POINT",
		"time-range":         "TIME_RANGE",
		"limit":              "LIMIT",
		"value-range":        "VALUE_RANGE",
		"value-range-limit":  "VALUE_RANGE_LIMIT",
		"agg-time":           "AGG_RANGE",
		"agg-value":          "AGG_VALUE",
		"agg-time-value":     "AGG_RANGE_VALUE",
		"latest-point":       "LATEST_POINT",
		"group-by-time":      "GROUP_BY",
		"time-range-desc":    "RANGE_QUERY_DESC",
		"value-range-desc":   "VALUE_RANGE_QUERY_DESC",
		"group-by-time-desc": "GROUP_BY_DESC",
		"set-operation":      "SET_OPERATION",
	}[queryType]
}
