package pipeline

import (
	"runtime"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
)

// tuner periodically samples the stages of a running pipeline and adjusts the settings that the
// user left open. The consumer of a stage calls tick now and then, so that the tuner needs no
// goroutine. Its changes never affect the order of the elements.
type tuner struct {
	clock   func() time.Time
	settled func(*Knob) // called when a stage has settled, if not nil

	mu    sync.Mutex
	last  time.Time
	knobs []*Knob
}

// A knob is sampled after lookEvery at the earliest, once each of its workers has finished
// lookUnits units of work, or else after lookAnyway.
const (
	lookEvery  = 100 * time.Millisecond
	lookAnyway = 3 * time.Second
	lookUnits  = 2
)

// Knob is a stage with tunable settings.
type Knob struct {
	Stats *Counters
	Pace  *pace  // nil: the number of workers was set
	Depth *depth // nil: the length of the queue was set
	Apply func(workers, depth int)
	queue int // last choice of depth
	// reads means that the stage reads files: its workers are busy while they wait for files, and
	// more of them only help then.
	reads bool
	// Waiting, if not nil, is called once, when it turns out that the function of the stage waits
	// without a processor: up to as many workers as for one that says so may then help.
	Waiting func()

	load  *cpuload.Meter // since the last sample, if all workers were busy then; else nil
	waits int            // consecutive samples in which the function waited

	since time.Time
	seen  counts // at since

	steady  int      // consecutive samples that changed nothing
	settled [2]int32 // workers and queue when it settled last
	times   int      // it has settled
}

// counts are the counters that a knob samples.
type counts struct{ elements, units, busy, wait, awaited, blocked int64 }

func (s *Counters) counts() counts {
	return counts{
		s.Elements.Load(), s.Units.Load(), s.busyNS.Load(), s.waitNS.Load(), s.awaitedNS.Load(), s.blockedNS.Load(),
	}
}

// Add registers a knob.
func (t *tuner) Add(k *Knob) {
	t.mu.Lock()
	k.since = t.clock()
	k.Stats.auto.Store(true)
	if k.Depth != nil {
		k.queue = k.Depth.now
	}
	t.knobs = append(t.knobs, k)
	t.mu.Unlock()
}

// Tick samples the stages if it is time to.
func (t *tuner) Tick() {
	if !t.mu.TryLock() {
		return // another goroutine is at it
	}
	defer t.mu.Unlock()
	if len(t.knobs) == 0 {
		return
	}
	now := t.clock()
	if now.Sub(t.last) < lookEvery {
		return
	}
	t.last = now
	for _, k := range t.knobs {
		if k.look(now); k.hasSettled() && t.settled != nil {
			t.settled(k)
		}
	}
}

func (k *Knob) look(now time.Time) {
	passed := now.Sub(k.since)
	is := k.Stats.counts()
	workers := int(k.Stats.Workers.Load())
	enough := is.units-k.seen.units >= int64(lookUnits*workers)
	if passed < lookEvery || !enough && passed < lookAnyway || is.units == k.seen.units {
		return
	}
	was := k.seen
	k.seen, k.since = is, now
	share := func(is, was int64) float64 { return float64(is-was) / float64(passed) }
	l := look{
		seconds:  passed.Seconds(),
		elements: float64(is.elements - was.elements),
		busy:     share(is.busy, was.busy),
		awaited:  share(is.awaited, was.awaited),
	}
	if k.reads {
		waits := share(is.wait, was.wait)
		l.noMore = waits < l.busy
		l.busy += waits
	}
	if k.Waiting != nil {
		k.watchWaits(l.busy, workers, passed)
	}
	queue := 0
	if k.Pace != nil {
		workers = k.Pace.step(l)
	}
	if k.Depth != nil {
		queue = k.Depth.step(queueLook{l.awaited, share(is.blocked, was.blocked), k.Stats.fewestSeen()})
	}
	if workers != int(k.Stats.Workers.Load()) || queue != k.queue {
		k.queue, k.steady = queue, 0
		k.Stats.Workers.Store(int32(workers))
		k.Stats.changes.Add(1)
		k.Apply(workers, queue)
		return
	}
	k.steady++
}

// A function waits if, in waitLooks samples in a row, all of its workers are busy, but this process has
// processors, or waits for them, for less than a share of mostTaken of that time.
const (
	waitLooks = 3
	mostTaken = 0.25
)

// watchWaits finds out whether the function of the stage waits, given how many workers were busy on
// average since the last sample, and how long that was.
func (k *Knob) watchWaits(busy float64, workers int, passed time.Duration) {
	load := k.load
	if k.load = nil; busy < atWork*float64(workers) {
		k.waits = 0
		return
	}
	k.load = cpuload.Start()
	if load == nil {
		return
	}
	took, known := load.Process()
	delayed, alsoKnown := load.Delayed()
	if !known || !alsoKnown || float64(took+delayed) >= mostTaken*busy*float64(passed) {
		k.waits = 0
		return
	}
	if k.waits++; k.waits == waitLooks {
		k.Pace.most = max(k.Pace.most, mostWaiting)
		k.Waiting()
		k.Waiting = nil
	}
}

// A stage counts as settled after settledLooks samples in a row that changed nothing, twice as many
// each further time, and up to a month of them.
const (
	settledLooks = 20
	mostDoubled  = 20
)

// hasSettled reports whether the stage has just settled, on other settings than before.
func (k *Knob) hasSettled() bool {
	if k.steady < settledLooks<<k.times {
		return false
	}
	k.steady = 0
	now := [2]int32{k.Stats.Workers.Load(), k.Stats.QueueSpace.Load()}
	if k.times > 0 && now == k.settled {
		return false
	}
	k.settled, k.times = now, min(k.times+1, mostDoubled)
	return true
}

// Readers returns the gate for a stage that reads up to this many files concurrently, which may be
// objects in a store.
func (r *Run) Readers(s *Counters, files int, stored bool) *Gate {
	o := r.Opts
	n := o.Readers
	if n == 0 {
		n = min(o.Parallelism, files)
		if stored { // reads wait without using a processor
			n = min(max(o.Parallelism, autoReaders), files)
		}
	}
	g := NewGate(n)
	s.Workers.Store(int32(n))
	if o.Readers == 0 {
		most := min(max(4*o.Parallelism, autoReaders), files)
		r.Tuner.Add(&Knob{Stats: s, Pace: NewPace(n, 1, most), reads: true, Apply: func(n, _ int) { g.Set(n) }})
	}
	return g
}

// Workers returns the gate for the workers of a stage, and their maximum number: given or, if that
// is 0, the upper bound for tuning. waits is set for a function that waits. Otherwise waiting is
// called if the function turns out to wait, and the maximum becomes MostWorkers(true).
func (r *Run) Workers(s *Counters, given int, waits bool, waiting func()) (g *Gate, most int) {
	if given > 0 {
		s.Workers.Store(int32(given))
		return NewGate(given), given
	}
	most = r.MostWorkers(waits)
	n := min(most, runtime.GOMAXPROCS(0))
	g = NewGate(n)
	s.Workers.Store(int32(n))
	k := &Knob{Stats: s, Pace: NewPace(n, 1, most), Apply: func(n, _ int) { g.Set(n) }}
	if !waits {
		k.Waiting = waiting
	}
	r.Tuner.Add(k)
	return g, most
}
