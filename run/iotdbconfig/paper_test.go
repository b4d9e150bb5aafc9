package iotdbconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file in the names of the paper is the same experiment as one in the tool's.
func TestNamesOfThePaper(t *testing.T) {
	read := func(text string) string {
		t.Helper()
		e, err := Read(File{Name: "c.properties", Data: []byte(text)}, Options{Targets: true})
		if err != nil {
			t.Fatal(err)
		}
		var settings string
		for _, p := range e.Settings() {
			settings += p.Path + "=" + p.Value + "\n"
		}
		return settings
	}
	const common = "GROUP_NUMBER=2\nDEVICE_NUMBER=10\nSENSOR_NUMBER=3\nCLIENT_NUMBER=5\nPOINT_STEP=5000\n"
	paper := read(common + "BATCH_SIZE=100\nEPOCH=6\nDATA_TYPE=DOUBLE\nTIMESTAMP_GEN_MODE=3\nIS_MUL_DEV_BATCH=False\nIS_RANDOM_INTERVAL=True\n" +
		"DISTRIBUTION_RATIO=5:4:3:2:1\nQUERY_TYPE=10\nQUERY_VAL_FILTER=> 0\nQUERY_AGG_FUN=max\nQUERY_SPAN=600000\nTIME_INTERVAL=60000\nLAMBDA=10\n")
	tool := read(common + "BATCH_SIZE_PER_WRITE=100\nLOOP=6\nINSERT_DATATYPE_PROPORTION=0:0:0:0:1:0\nIS_OUT_OF_ORDER=true\nOUT_OF_ORDER_MODE=POISSON\nIS_REGULAR_FREQUENCY=false\n" +
		"SQUARE_RATIO=5\nSIN_RATIO=4\nLINE_RATIO=3\nRANDOM_RATIO=2\nCONSTANT_RATIO=1\nOPERATION_PROPORTION=0:0:0:0:0:0:0:1:0:0:0:0:0\nQUERY_LOWER_VALUE=0\nQUERY_AGGREGATE_FUN=max\nQUERY_INTERVAL=600000\nGROUP_BY_TIME_UNIT=60000\nLAMBDA=10\n")
	if diff := cmp.Diff(tool, paper); diff != "" {
		t.Errorf("(-tool's names +paper's)\n%s", diff)
	}
	if defaults := read(common); defaults == paper {
		t.Error("the paper's names change nothing")
	}
}

func TestNamesOfThePaperErrors(t *testing.T) {
	for text, want := range map[string]string{
		"QUERY_TYPE=5":          "c.properties:1: QUERY_TYPE: the paper's Q5 has a limit, which the tool has no operation for; use --query-type limit or value-range-limit",
		"QUERY_TYPE=agg":        `c.properties:1: QUERY_TYPE: must be the number of one of the paper's queries, 1 to 10, not "agg"`,
		"QUERY_VAL_FILTER=!= 5": `c.properties:1: QUERY_LOWER_VALUE: must be a number from -1e+15 to 1e+15, also with >, < or = before it, not "!= 5"`,
		"LOOP=5\nEPOCH=6":       "c.properties:2: EPOCH: sets LOOP, as line 1 does; leave one of them out",
		"EPOCH=6\nLOOP=5":       "c.properties:2: LOOP: sets LOOP, as line 1 does; leave one of them out",
		"SIN_RATIO=1\nDISTRIBUTION_RATIO=1:1:1:1:1": "c.properties:2: DISTRIBUTION_RATIO: sets SIN_RATIO, as line 1 does; leave one of them out",
		"DATA_TYPE=OBJECT":                          `c.properties:1: DATA_TYPE: must be one of BOOLEAN, INT32, INT64, FLOAT, DOUBLE, TEXT, not "OBJECT"`,
		"TIMESTAMP_GEN_MODE=1":                      `c.properties:1: TIMESTAMP_GEN_MODE: must be 0 (in order) or 3 (late by a Poisson distribution), not "1"; the paper does not define the others`,
		"DISTRIBUTION_RATIO=1:0:0:0":                `c.properties:1: DISTRIBUTION_RATIO: must have five shares (square, sine, sawtooth, random, constant), such as 1:1:1:1:1, not "1:0:0:0"`,
		"IS_MUL_DEV_BATCH=true":                     `c.properties:1: IS_MUL_DEV_BATCH: must be false, not "true"; DEVICE_NUM_PER_WRITE says how many devices a batch has`,
		"IS_RANDOM_INTERVAL=no":                     `c.properties:1: IS_RANDOM_INTERVAL: must be true or false, not "no"`,
	} {
		_, err := Read(File{Name: "c.properties", Data: []byte(text)}, Options{Targets: true})
		if err == nil || err.Error() != want {
			t.Errorf("%q\n got %v\nwant %s", text, err, want)
		}
	}
}
