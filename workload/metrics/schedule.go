package metrics

import (
	"math"
	"sort"
	"time"

	"github.com/tsmark/tsmark/internal/splitmix"
)

// job is a kind of target.
type job uint8

// The jobs.
const (
	app     job = iota // a pod of an instrumented service
	node               // node_exporter
	kube               // kube-state-metrics, which reports a share of the pods, nodes and deployments
	kubelet            // the kubelet of a node, with cAdvisor: reports the containers of the node's pods
	jobs
)

// pattern is the jobs of ten consecutive targets. It begins with one of each, so that few targets
// have all jobs.
var pattern = [...]job{app, node, kube, kubelet, app, app, node, app, kubelet, app}

// jobOf returns the job of a target, and the target's number among those of the job.
func jobOf(target uint32) (job, uint32) {
	whole, rest := target/uint32(len(pattern)), target%uint32(len(pattern))
	j, n := pattern[rest], uint32(0)
	for i, other := range pattern {
		if other == j {
			n += whole
			if uint32(i) < rest {
				n++
			}
		}
	}
	return j, n
}

// targetNumber is the inverse of jobOf.
func targetNumber(j job, n uint32) uint32 {
	var places []uint32
	var memory [len(pattern)]uint32
	places = memory[:0]
	for i, other := range pattern {
		if other == j {
			places = append(places, uint32(i))
		}
	}
	return n/uint32(len(places))*uint32(len(pattern)) + places[n%uint32(len(places))]
}

// schedule determines which pods exist and which scrapes succeed. A slot is the place of a pod: each
// slot has one pod at a time. Pods have numbers: the first pod of a slot has the slot's number, the
// next one that number plus the number of slots, and so on.
type schedule struct {
	seed     uint64
	start    int64         // nanoseconds since 1970
	interval time.Duration // between scrapes of a target
	epochs   int64         // scrapes of a target
	targets  uint32

	counts      [jobs]uint32 // of targets; of apps these are the slots
	deployments uint32
	nodes       uint32

	churn, late, failed float64
	life                int64 // of a pod, in milliseconds; 0: pods are not replaced
	podNumbers          uint32
}

// podsPerDeployment is the number of replicas that deployments have at most, and about.
const podsPerDeployment = 8

// rollingStep is the time between the replacements of two pods of a deployment, in milliseconds. It is
// shorter where the share of replaced pods requires it.
const rollingStep = 30_000

// longestLife bounds the life of pods, in milliseconds, so that its product with a slot does not
// overflow.
const longestLife = int64(1e12)

func (s *schedule) init() {
	for target := range s.targets % uint32(len(pattern)) {
		s.counts[pattern[target]]++
	}
	for _, j := range pattern {
		s.counts[j] += s.targets / uint32(len(pattern))
	}
	s.deployments = (s.counts[app] + podsPerDeployment - 1) / podsPerDeployment
	s.nodes = max(s.counts[node], s.counts[kubelet], 1)
	if s.churn > 0 {
		s.life = min(int64(math.Round(float64(time.Hour/time.Millisecond)/s.churn)), longestLife)
	}
	s.podNumbers = s.counts[app]
	if last := s.epochs - 1; s.life > 0 && last > 0 {
		rounds := s.generation(0, last) // slots are replaced in order, so the first one is ahead
		further := sort.Search(int(s.counts[app]), func(slot int) bool { return s.generation(uint32(slot), last) < rounds })
		s.podNumbers = uint32(min(uint64(rounds)*uint64(s.counts[app])+uint64(further), math.MaxUint32))
	}
}

// deploymentOf returns the deployment of a slot. Deployments have consecutive slots.
func (s *schedule) deploymentOf(slot uint32) uint32 {
	return uint32(((uint64(slot)+1)*uint64(s.deployments) - 1) / uint64(s.counts[app]))
}

// firstSlot returns the first slot of a deployment.
func (s *schedule) firstSlot(deployment uint32) uint32 {
	return uint32(uint64(deployment) * uint64(s.counts[app]) / uint64(s.deployments))
}

// firstBirth returns when the first pod of a slot is replaced, in milliseconds since the start. Further
// replacements follow after the life of a pod each. Deployments are replaced one after the other, each
// pod by pod.
func (s *schedule) firstBirth(slot uint32) int64 {
	first := s.firstSlot(s.deploymentOf(slot))
	each := s.life / int64(s.counts[app])
	return s.life*int64(first)/int64(s.counts[app]) + each + int64(slot-first)*min(each, rollingStep)
}

// generation returns how many pods of a slot were replaced until a scrape, and including it.
func (s *schedule) generation(slot uint32, epoch int64) uint32 {
	if s.life == 0 {
		return 0
	}
	since := epoch*s.interval.Milliseconds() - s.firstBirth(slot)
	if since < 0 {
		return 0
	}
	return uint32(since/s.life) + 1
}

// bornAt returns the first scrape of a pod of a generation from 1 on.
func (s *schedule) bornAt(slot, generation uint32) int64 {
	step := s.interval.Milliseconds()
	return (s.firstBirth(slot) + int64(generation-1)*s.life + step - 1) / step
}

// pod returns the number of the pod in a slot at a scrape.
func (s *schedule) pod(slot uint32, epoch int64) uint32 {
	return s.generation(slot, epoch)*s.counts[app] + slot
}

// reporter returns which of a job's targets reports an object, of count objects.
func (s *schedule) reporter(j job, object, count uint32) uint32 {
	return uint32(uint64(object) * uint64(s.counts[j]) / uint64(count))
}

// objectsOf returns the objects that a target of a job reports, of count objects: the inverse of
// reporter.
func (s *schedule) objectsOf(j job, target, count uint32) (first, end uint32) {
	of := uint64(s.counts[j])
	border := func(target uint64) uint32 { return uint32((target*uint64(count) + of - 1) / of) }
	return border(uint64(target)), border(uint64(target) + 1)
}

// nodeOf returns the node on which the pod of a slot runs.
func (s *schedule) nodeOf(slot uint32) uint32 {
	if s.counts[kubelet] > 0 {
		return s.reporter(kubelet, slot, s.counts[app])
	}
	return uint32(uint64(slot) * uint64(s.nodes) / uint64(s.counts[app]))
}

// mostJitter is the maximum delay of a scrape, in milliseconds.
const mostJitter = 120

// time returns the time of a scrape in nanoseconds since 1970. Targets are scraped evenly spread over
// the interval; seven of eight scrapes are on time, and the others late by some milliseconds.
func (s *schedule) time(target uint32, epoch int64) int64 {
	step := s.interval.Milliseconds()
	jitter := min(mostJitter, step/8)
	at := epoch*step + int64(uint64(step-jitter)*uint64(target)/uint64(s.targets))
	if x := splitmix.Mix(s.random(target, 1) + uint64(epoch)*perEpoch); x&7 == 0 {
		at += int64(splitmix.Scale(x, uint64(jitter)))
	}
	return s.start + at*int64(time.Millisecond)
}

// random returns the bits of a target for a purpose.
func (s *schedule) random(target uint32, purpose uint64) uint64 {
	return splitmix.Mix(s.seed + uint64(target)*splitmix.Golden + purpose*perStep)
}

// Outages begin within blocks of 8 scrapes and end with their block. They have meanOutage scrapes.
const (
	outageBlock = 8
	meanOutage  = 2.75
)

// succeeds reports whether a scrape of a target succeeds.
func (s *schedule) succeeds(target uint32, epoch int64) bool {
	if s.failed == 0 {
		return true
	}
	x := splitmix.Mix(s.random(target, 2) + uint64(epoch/outageBlock)*perEpoch)
	if splitmix.Unit(x) >= s.failed*(outageBlock/meanOutage) {
		return true
	}
	y := splitmix.Mix(x + splitmix.Golden)
	begin := int64(y % outageBlock)
	length := 1 + int64(y>>32%(outageBlock-uint64(begin)))
	at := epoch % outageBlock
	return at < begin || at >= begin+length
}

// mostLate is the maximum delay of a scrape's samples, in intervals.
const mostLate = 20

// arrival returns the interval in which the samples of a scrape arrive.
func (s *schedule) arrival(target uint32, epoch int64) int64 {
	if s.late == 0 {
		return epoch
	}
	x := splitmix.Mix(s.random(target, 3) + uint64(epoch)*perEpoch)
	if splitmix.Unit(x) >= s.late {
		return epoch
	}
	return min(epoch+1+int64(splitmix.Mix(x+splitmix.Golden)%mostLate), s.epochs-1)
}

// clock is the progress of an object with counters: how many average intervals' worth of work it has
// done. Slow work, such as slow requests, has a pace of its own.
type clock struct {
	work, slow float64
	load       float64 // pace of work: 1 on average, 0.2 to 1.8
	age        int64   // scrapes since it began
	began      int64   // seconds since 1970
}

const (
	segment  = 64  // intervals in which the pace is constant
	swing    = 0.8 // how much the pace differs from 1 at most
	leastUse = 1 - swing
)

// position returns how far a stream of work is at an interval, and its pace.
func position(stream uint64, epoch int64) (at, pace float64) {
	i := epoch / segment
	border := func(i int64) float64 {
		return float64(i) + float64(swing*(splitmix.Unit(splitmix.Mix(stream+uint64(i)*perEpoch))-0.5))
	}
	from := border(i)
	pace = border(i+1) - from
	return float64(segment*from) + float64(pace*float64(epoch%segment)), pace
}

// longestUptime bounds the age of objects at the start.
const longestUptime = 20 * 24 * time.Hour

// clockOf returns the clock at a scrape of an object that began at another scrape; less than 0: before
// the start, at a time that the stream determines.
func (s *schedule) clockOf(stream uint64, epoch, began int64) clock {
	if began < 0 {
		most := uint64(longestUptime / s.interval)
		began = -1 - int64(splitmix.Scale(splitmix.Mix(stream), max(most, 1)))
	}
	// The ages before the start are whole segments' worth of even work.
	before := int64(0)
	from := max(began, 0)
	if began < 0 {
		before = -began
	}
	var c clock
	work, pace := position(stream+1, epoch)
	slow, _ := position(stream+2, epoch)
	work0, _ := position(stream+1, from)
	slow0, _ := position(stream+2, from)
	c.work, c.slow, c.load = work-work0+float64(before), slow-slow0+float64(before), pace
	c.age = epoch - from + before
	c.began = (s.start + began*int64(s.interval)) / int64(time.Second)
	return c
}
