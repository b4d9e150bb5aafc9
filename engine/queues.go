package engine

// queues are where workers get their parcels from: a queue each, or one that
// all of them share.
type queues[P any] []chan P

// newQueues makes the queues of so many workers, each with room for so many
// parcels.
func newQueues[P any](workers, room int, own bool) queues[P] {
	q := make(queues[P], workers)
	for i := range q {
		q[i] = q[0]
		if own || i == 0 {
			q[i] = make(chan P, room)
		}
	}
	return q
}

// close tells the workers that nothing will follow.
func (q queues[P]) close() {
	for i := range q {
		if i == 0 || q[i] != q[0] {
			close(q[i])
		}
	}
}
