package iotdbconfig

import (
	"fmt"
	"slices"
	"strings"
)

// assignment is a parameter with a value.
type assignment struct{ name, value string }

// paperNames are the names of the paper about the tool (Liu and Yuan, 2019) for parameters that keep
// their meaning.
func paperNames() map[string]string {
	return map[string]string{
		"BATCH_SIZE": "BATCH_SIZE_PER_WRITE", "EPOCH": "LOOP", "QUERY_SPAN": "QUERY_INTERVAL", "TIME_INTERVAL": "GROUP_BY_TIME_UNIT", "QUERY_AGG_FUN": "QUERY_AGGREGATE_FUN",
		"QUERY_VAL_FILTER": "QUERY_LOWER_VALUE",
	}
}

// fromPaper translates a parameter of the paper to the tool's. Other parameters stay as they are.
func fromPaper(name, value string) ([]assignment, error) {
	if now, ok := paperNames()[name]; ok {
		return []assignment{{now, value}}, nil
	}
	switch name {
	case "DATA_TYPE":
		types := []string{"BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE", "TEXT"}
		at := slices.Index(types, strings.ToUpper(value))
		if at < 0 {
			return nil, fmt.Errorf("must be one of %s, not %s", strings.Join(types, ", "), short(value))
		}
		shares := slices.Repeat([]string{"0"}, len(types))
		shares[at] = "1"
		return []assignment{{"INSERT_DATATYPE_PROPORTION", strings.Join(shares, ":")}}, nil
	case "QUERY_TYPE":
		place, ok := map[string]int{"1": 1, "2": 2, "4": 3, "6": 4, "7": 5, "8": 6, "9": 8, "10": 7}[value]
		switch {
		case value == "3" || value == "5":
			return nil, fmt.Errorf("the paper's Q%s has a limit, which the tool has no operation for; use --query-type limit or value-range-limit", value)
		case !ok:
			return nil, fmt.Errorf("must be the number of one of the paper's queries, 1 to 10, not %s", short(value))
		}
		shares := slices.Repeat([]string{"0"}, 1+len(queryTypes()))
		shares[place] = "1"
		return []assignment{{proportion, strings.Join(shares, ":")}}, nil
	case "TIMESTAMP_GEN_MODE":
		switch value {
		case "0":
			return []assignment{{"IS_OUT_OF_ORDER", "false"}}, nil
		case "3":
			return []assignment{{"IS_OUT_OF_ORDER", "true"}, {"OUT_OF_ORDER_MODE", "POISSON"}}, nil
		}
		return nil, fmt.Errorf("must be 0 (in order) or 3 (late by a Poisson distribution), not %s; the paper does not define the others", short(value))
	case "DISTRIBUTION_RATIO":
		names := []string{"SQUARE_RATIO", "SIN_RATIO", "LINE_RATIO", "RANDOM_RATIO", "CONSTANT_RATIO"}
		shares := strings.Split(value, ":")
		if len(shares) != len(names) {
			return nil, fmt.Errorf("must have five shares (square, sine, sawtooth, random, constant), such as 1:1:1:1:1, not %s", short(value))
		}
		var list []assignment
		for i, n := range names {
			list = append(list, assignment{n, strings.TrimSpace(shares[i])})
		}
		return list, nil
	case "IS_RANDOM_INTERVAL":
		switch strings.ToLower(value) {
		case "true":
			return []assignment{{"IS_REGULAR_FREQUENCY", "false"}}, nil
		case "false":
			return []assignment{{"IS_REGULAR_FREQUENCY", "true"}}, nil
		}
		return nil, fmt.Errorf("must be true or false, not %s", short(value))
	case "IS_MUL_DEV_BATCH":
		if strings.EqualFold(value, "false") {
			return []assignment{{"DEVICE_NUM_PER_WRITE", "1"}}, nil
		}
		return nil, fmt.Errorf("must be false, not %s; DEVICE_NUM_PER_WRITE says how many devices a batch has", short(value))
	}
	return []assignment{{name, value}}, nil
}
