package sqlkit_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// word is a tag whose value is the same for all series; empty: they lack it.
type word string

func (w word) Append(dst []byte, _ uint32) ([]byte, bool) { return append(dst, w...), w != "" }

// written is a row in words.
type written []string

func (w *written) SetNull(c int)             { *w = append(*w, fmt.Sprintf("%d null", c)) }
func (w *written) SetFloat(c int, v float64) { *w = append(*w, fmt.Sprintf("%d %v", c, v)) }
func (w *written) SetText(c int, v []byte)   { *w = append(*w, fmt.Sprintf("%d %q", c, v)) }

func TestPut(t *testing.T) {
	tags := []series.Tag{{Key: "a", Values: word("x")}, {Key: "b", Values: word("")}, {Key: "c", Type: series.Float, Values: word("1.5")}}
	schema := &series.Schema{Series: 1, Tables: []*series.Table{{Name: "t", Tags: tags}}}
	c := sqlkit.TagsOf(schema)[schema.Tables[0]].NewClaims()
	var row written
	if n, err := c.Put(0, &row); err != nil || n != 9 || strings.Join(row, ", ") != `0 "x", 1 null, 2 1.5` {
		t.Errorf("%v, %d bytes, %v", row, n, err)
	}
	tags[2].Values = word("much")
	if _, err := c.Put(0, &row); err == nil || !strings.Contains(err.Error(), "tag c of series 0") {
		t.Error(err)
	}
}

// A statement is interrupted until it ends, and not once it has ended.
func TestInterruptWhenDone(t *testing.T) {
	var times atomic.Int64
	interrupt := func() { times.Add(1) }
	ctx, cancel := context.WithCancel(t.Context())
	settle := sqlkit.InterruptWhenDone(ctx, interrupt)
	cancel()
	for deadline := time.Now().Add(time.Minute); times.Load() < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is not interrupted again")
		}
	}
	settle()
	n := times.Load()
	time.Sleep(10 * time.Millisecond)
	sqlkit.InterruptWhenDone(t.Context(), interrupt)()
	sqlkit.InterruptWhenDone(context.Background(), interrupt)()
	if times.Load() != n {
		t.Errorf("%d interrupts after the end", times.Load()-n)
	}
}
