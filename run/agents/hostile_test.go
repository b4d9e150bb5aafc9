package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/run/agents/broker"
	"github.com/tsmark/tsmark/run/allow"
)

// An agent that sends malformed messages is removed, with one line, and the coordinator continues.
func TestHostileAgent(t *testing.T) {
	s := place(t, broker.Access{})
	var said lines
	c := coordinator(t, s, Options{Agents: 1, Say: said.say})
	for subject, body := range map[string]string{
		beatSubject:  "\xff{",
		readySubject: `{"command": 3}`,
		shareSubject: `{"values": "many"}`,
		doneSubject:  `{"command":"1","size":-1}`,
		leaveSubject: strings.Repeat(" ", maxMessage+1),
		chunkSubject: "", // answered with an error
	} {
		work := make(chan *task, 1)
		a := serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, workFunc(func(ctx context.Context, _ Command, t Task) error {
			work <- t.(*task)
			<-ctx.Done()
			return nil
		}))
		members := awaitMembers(t, c, 1)
		ended := make(chan Outcome, 1)
		id := "1"
		c.mu.Lock()
		delete(c.commandIDs, id+"-a")
		c.mu.Unlock()
		go func() {
			outcomes, _ := c.Do(t.Context(), sameCommand(members, Command{ID: id}), nil)
			ended <- outcomes[members[0].ID]
		}()
		m := (<-work).of
		body = strings.Replace(body, `"1"`, `"1-a"`, 1)
		if subject == chunkSubject {
			message := nats.NewMsg(subjectOf(subject, c.id, m.id))
			message.Header.Set(commandHeader, "1-a")
			message.Header.Set(offsetHeader, "77")
			message.Data = []byte("x")
			got, err := m.control.RequestMsg(message, 5*time.Second)
			var answered answer
			if err != nil || json.Unmarshal(got.Data, &answered) != nil || !strings.Contains(answered.Error, "begins at byte 77, and byte 0 is next") {
				t.Errorf("%v, %+v", err, answered)
			}
			c.Dismiss(m.id, "a result that no agent sends")
		} else if err := m.control.Publish(subjectOf(subject, c.id, m.id), []byte(body)); err != nil {
			t.Fatal(err)
		}
		o := <-ended
		var lost *Lost
		if !errors.As(o.Err, &lost) || lost.How != Malformed || strings.Contains(o.Err.Error(), "\n") || !strings.Contains(o.Err.Error(), "agent a was lost: it sent a ") {
			t.Errorf("%s: %v", subject, o.Err)
		}
		a.stop(errors.New("done"))
		a.wait(t)
		untilGone(t, c)
	}
}

func untilGone(t *testing.T, c *Coordinator) {
	t.Helper()
	waitUntil(t, "nobody is left", func() bool { return len(c.Members()) == 0 })
}

// An agent that does not permit the needs of the runs is refused, with one line on both sides, and
// waits.
func TestObjection(t *testing.T) {
	s := place(t, broker.Access{})
	var said lines
	c := coordinator(t, s, Options{Agents: 1, Say: said.say, Needs: allow.Needs{Targets: []string{"postgres@db1:5432"}}})
	a := serve(t, s.URL(), Agent{Name: "a", Allow: allow.List{Targets: []string{"postgres@db2"}}.Check}, broker.Access{}, echo)
	const why = "this agent does not allow postgres@db1:5432; start it with --allow postgres@db1:5432"
	waitUntil(t, "the agent says it", func() bool {
		return strings.Contains(a.String(), "the coordinator on here cannot use this agent: "+why)
	})
	waitUntil(t, "the coordinator says it", func() bool { return said.String() == "agent a was refused: "+why })
	serve(t, s.URL(), Agent{Name: "b", Allow: allow.List{Targets: []string{"postgres@db1"}}.Check}, broker.Access{}, echo)
	awaitMembers(t, c, 1)
}

// A command that overtakes the welcome waits for it: its messages go to the coordinator, at the
// intervals in the welcome.
func TestCommandBeforeWelcome(t *testing.T) {
	s := place(t, broker.Access{})
	c, err := s.Connect(t.Context(), "coordinator", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Subscribe("tsmark.join.*", func(msg *nats.Msg) {
		read(msg, func(h hello) {
			if h.Coordinator == "" {
				reply(msg, welcome{Coordinator: "C", Tool: tool, Timing: quick(), Refusal: unseen})
				return
			}
			early, err := c.Request(fmt.Sprintf(doSubject, h.ID), []byte(`{"command":{"id":"1"}}`), 50*time.Millisecond)
			if err == nil {
				t.Errorf("it takes a command before it was welcomed: %s", early.Data)
			}
			reply(msg, welcome{Coordinator: "C", Tool: tool, Timing: quick()})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan done, 10)
	if _, err := c.Subscribe(fmt.Sprintf(doneSubject, "C", "*.*"), func(msg *nats.Msg) {
		read(msg, func(d done) { reply(msg, answer{}); said <- d })
	}); err != nil || c.Flush() != nil {
		t.Fatal("cannot subscribe")
	}
	serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, workFunc(func(context.Context, Command, Task) error { return nil }))
	select {
	case d := <-said:
		if d.Command != "1" || d.Error != "" {
			t.Errorf("%+v", d)
		}
	case <-time.After(20 * time.Second):
		t.Error("it says nothing of the command")
	}
}

// A deleted folder for results is created again; an unusable one ends the command at once, with one
// line.
func TestResultFolder(t *testing.T) {
	s := place(t, broker.Access{})
	c := coordinator(t, s, Options{Agents: 1})
	gone := filepath.Join(c.options.Dir, "gone")
	c.options.Dir = gone
	serve(t, s.URL(), Agent{Name: "a"}, broker.Access{}, echo)
	members := awaitMembers(t, c, 1)
	outcomes, err := c.Do(t.Context(), sameCommand(members, Command{ID: "1", Body: []byte("whole")}), nil)
	if got := content(t, outcomes[members[0].ID]); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gone, nil, 0o600); err != nil { // in place of the folder
		t.Fatal(err)
	}
	outcomes, err = c.Do(t.Context(), sameCommand(members, Command{ID: "2", Body: []byte("whole")}), nil)
	if got := outcomes[members[0].ID].Err; err != nil || got == nil || !strings.Contains(got.Error(), "delivering the result: the coordinator cannot keep the result: ") || strings.Contains(got.Error(), "\n") {
		t.Errorf("%v, %v", got, err)
	}
}

// A request to join with any content is either accepted or ignored.
func FuzzHello(f *testing.F) {
	f.Add([]byte(`{"id":"A.B","name":"a","process":"A"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var h hello
		if json.Unmarshal(text, &h) == nil && h.proper(h.Process) && (len(h.ID) != 53 || h.Name == "") {
			t.Errorf("%+v", h)
		}
	})
}
