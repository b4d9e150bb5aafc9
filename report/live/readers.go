package live

import (
	"net/http"
	"sync"
	"time"
)

// readers are the readers that follow the page. A slow reader gets the newest event and misses
// the ones before it.
type readers struct {
	mu    sync.Mutex
	all   map[chan []byte]bool
	ended bool
}

// mostReaders is the maximum number of concurrent readers.
const mostReaders = 32

// patience is the maximum time for sending an event. A slower reader is disconnected.
const patience = 10 * time.Second

// join returns a reader's channel of events, closed after the last one. It returns nil if
// there are too many readers.
func (r *readers) join() chan []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) >= mostReaders || r.ended {
		return nil
	}
	if r.all == nil {
		r.all = make(map[chan []byte]bool)
	}
	events := make(chan []byte, 1)
	r.all[events] = true
	return events
}

func (r *readers) leave(events chan []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, events)
}

// any reports whether there are readers.
func (r *readers) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all) > 0
}

// send sends an event to all readers without blocking. The last one ends the streams.
func (r *readers) send(event []byte, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = last
	for events := range r.all {
		select {
		case <-events: // the reader has not received this one yet
		default:
		}
		events <- event // there is room: this is the only sender
		if last {
			close(events)
		}
	}
}

// ServeHTTP sends events until the last one, or until the reader has gone or is stuck.
func (r *readers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	events := r.join()
	if events == nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "tsmark: the run has ended, or too many follow it", http.StatusServiceUnavailable)
		return
	}
	defer r.leave(events)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(text []byte) error {
		_ = out.SetWriteDeadline(time.Now().Add(patience)) // every server of net/http can
		if _, err := w.Write(text); err != nil {
			return err
		}
		return out.Flush()
	}
	if send([]byte("retry: 2000\n\n")) != nil {
		return
	}
	for {
		select {
		case event, more := <-events:
			if !more || send(event) != nil {
				return
			}
		case <-req.Context().Done():
			return
		}
	}
}
