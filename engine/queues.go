package engine

// queues are where workers get their batches from: a queue each, or one that all
// of them share.
type queues []chan *batch

// newQueues makes the queues of so many workers, each with room for so many
// batches.
func newQueues(workers, room int, own bool) queues {
	q := make(queues, workers)
	for i := range q {
		q[i] = q[0]
		if own || i == 0 {
			q[i] = make(chan *batch, room)
		}
	}
	return q
}

// close tells the workers that nothing will follow.
func (q queues) close() {
	for i := range q {
		if i == 0 || q[i] != q[0] {
			close(q[i])
		}
	}
}
