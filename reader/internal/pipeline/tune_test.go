package pipeline

import (
	"math"
	"testing"
	"time"
)

// model is a numeric model of a stage between an input and a consumer.
type model struct {
	input, work, consumer float64 // seconds an element takes; work of one worker
	processors            int     // that workers share; 0: as many as they like
}

// look returns what a pace samples with this many workers, with 3% noise.
func (m model) look(workers, i int) look {
	at := float64(workers)
	if m.processors > 0 {
		at = min(at, float64(m.processors))
	}
	rate := min(at/m.work, 1/max(m.input, 1e-9), 1/max(m.consumer, 1e-9))
	rate *= 1 + 0.03*math.Sin(float64(i*i))
	busy := min(rate*m.work, at)
	if m.processors > 0 && at < float64(workers) && rate*m.work >= 0.9*at {
		busy = float64(workers) // they share the processors and take longer
	}
	return look{seconds: 0.1, elements: rate * 0.1, busy: busy, awaited: max(0, 1-rate*m.consumer)}
}

func TestPaceSettles(t *testing.T) {
	for name, c := range map[string]struct {
		model
		start, most int
		least, top  int // where it should settle
	}{
		"slow map":                 {model{work: 0.008, consumer: 0.002}, 2, 16, 4, 6},
		"slow map, from too many":  {model{work: 0.008, consumer: 0.002}, 16, 16, 4, 7},
		"slower map than workers":  {model{work: 0.100, consumer: 0.001}, 2, 16, 16, 16},
		"slow consumer":            {model{work: 0.001, consumer: 0.010}, 8, 16, 1, 1},
		"slow consumer, two":       {model{work: 0.018, consumer: 0.010}, 8, 16, 2, 3},
		"slow input":               {model{input: 0.010, work: 0.001, consumer: 0.0001}, 8, 16, 1, 8},
		"as many as processors":    {model{work: 0.010, consumer: 0.0001, processors: 4}, 4, 16, 4, 4},
		"up to the processors":     {model{work: 0.010, consumer: 0.0001, processors: 6}, 2, 16, 6, 9},
		"no more than the budget":  {model{work: 0.010, consumer: 0.0001}, 2, 2, 2, 2},
		"an instantaneous mapping": {model{work: 1e-6, consumer: 1e-5}, 4, 4, 1, 1},
	} {
		p := NewPace(c.start, 1, c.most)
		const looks, tail = 600, 300
		changes, late := 0, 0
		for i := range looks {
			before := p.now
			now := p.step(c.look(before, i))
			if now < 1 || now > c.most {
				t.Fatalf("%s: %d workers of 1 to %d", name, now, c.most)
			}
			if now != before {
				if now > 2*before || now < before/2 {
					t.Errorf("%s: from %d to %d workers in one step", name, before, now)
				}
				changes++
				if i >= looks-tail {
					late++
				}
			}
		}
		if p.from == 0 && (p.now < c.least || p.now > c.top) {
			t.Errorf("%s: settled at %d workers, want %d to %d", name, p.now, c.least, c.top)
		}
		// A trial and its end are two changes. They become rare.
		if changes > 24 || late > 4 {
			t.Errorf("%s: %d changes, %d of them in the last %d looks", name, changes, late, tail)
		}
	}
}

// pace follows changes of the stages around it.
func TestPaceFollows(t *testing.T) {
	p := NewPace(4, 1, 16)
	run := func(m model, looks int) int {
		for i := range looks {
			p.step(m.look(p.now, i))
		}
		return p.now
	}
	if n := run(model{work: 0.001, consumer: 0.010}, 100); n != 1 {
		t.Errorf("%d workers for a slow consumer", n)
	}
	if n := run(model{work: 0.008, consumer: 0.001}, 400); n < 8 || n > 13 {
		t.Errorf("%d workers once it is fast, want 8 to 13", n)
	}
	if n := run(model{work: 0.001, consumer: 0.010}, 400); n != 1 {
		t.Errorf("%d workers once it is slow again", n)
	}
}

func TestDepthSettles(t *testing.T) {
	steady := func(l queueLook) func(int) queueLook { return func(int) queueLook { return l } }
	for name, c := range map[string]struct {
		see   func(now int) queueLook
		start int
		want  int
	}{
		"never full":      {steady(queueLook{awaited: 0.5}), 2, 2},
		"never empty":     {func(now int) queueLook { return queueLook{blocked: 0.9, fewest: now} }, 64, 1},
		"just enough":     {steady(queueLook{blocked: 0.5, fewest: 1}), 8, 8},
		"ups and downs":   {steady(queueLook{awaited: 0.2, blocked: 0.2}), 2, 64},
		"12 at a time":    {func(now int) queueLook { return bursts(now, 12) }, 2, 12},
		"12, from plenty": {func(now int) queueLook { return bursts(now, 12) }, 64, 12},
	} {
		d := NewDepth(c.start, 1, 64)
		late := 0
		for i := range 1000 {
			before := d.now
			if d.step(c.see(before)); d.now != before && i >= 500 {
				late++
			}
		}
		if d.now < c.want || d.now > 2*c.want {
			t.Errorf("%s: settled at %d, want %d or a little more", name, d.now, c.want)
		}
		if late > 2 {
			t.Errorf("%s: %d changes in the last 500 looks", name, late)
		}
	}
}

// bursts is a queue from which n elements are taken at once, now and then.
func bursts(now, n int) queueLook {
	if now < n {
		return queueLook{awaited: 0.1, blocked: 0.5}
	}
	return queueLook{blocked: 0.5, fewest: now - n + 1}
}

// The tuner samples when there is something to see, and its choices show in Stats.
func TestTunerOnAClock(t *testing.T) {
	now := time.Unix(0, 0)
	var tuner tuner
	tuner.clock = func() time.Time { return now }
	s := &Counters{Name: "map"}
	s.Workers.Store(2)
	applied := 0
	tuner.Add(&Knob{Stats: s, Pace: NewPace(2, 1, 16), Apply: func(n, _ int) { applied = n }})
	// Each worker takes 8 ms, the consumer 2 ms.
	pass := func(d time.Duration) {
		now = now.Add(d)
		m := model{work: 0.008, consumer: 0.002}.look(int(s.Workers.Load()), 0)
		n := int64(m.elements / m.seconds * d.Seconds())
		s.Elements.Add(n)
		s.Units.Add(n)
		s.Busy(time.Duration(m.busy * float64(d)))
		s.Awaited(time.Duration(m.awaited * float64(d)))
		tuner.Tick()
	}
	pass(lookEvery / 2)
	if applied != 0 {
		t.Errorf("a look after %v", lookEvery/2)
	}
	for range 100 {
		pass(lookEvery)
	}
	if got := s.snapshot(); got.Workers < 4 || got.Workers > 6 || got.Workers != applied || !got.Auto || got.Changes < 2 || got.Changes > 12 {
		t.Errorf("%+v, %d applied; want 4 to 6 workers", got, applied)
	}
	// Without work there is nothing to sample.
	before := s.snapshot()
	for range 100 {
		now = now.Add(time.Second)
		tuner.Tick()
	}
	if after := s.snapshot(); after != before {
		t.Errorf("%+v became %+v while nothing happened", before, after)
	}
}

// Readers of slow storage increase; if reading needs the processor they do not.
func TestTunerOfReaders(t *testing.T) {
	for name, c := range map[string]struct {
		waits, works time.Duration // of a reader, for a unit
		least, most  int
	}{
		"slow storage": {9 * time.Millisecond, time.Millisecond, 9, 16}, // 10 would feed the consumer; up to a tenth of waiting is borne
		"fast storage": {time.Millisecond, 9 * time.Millisecond, 2, 2},
	} {
		now := time.Unix(0, 0)
		tuner := tuner{clock: func() time.Time { return now }}
		s := &Counters{Name: "read"}
		s.Workers.Store(2)
		g := NewGate(2)
		tuner.Add(&Knob{Stats: s, Pace: NewPace(2, 1, 16), reads: true, Apply: func(n, _ int) { g.Set(n) }})
		for range 300 {
			now = now.Add(lookEvery)
			n := float64(s.Workers.Load()) * float64(lookEvery) / float64(c.waits+c.works)
			n = min(n, float64(lookEvery/time.Millisecond)) // what the consumer takes
			s.Elements.Add(int64(n))
			s.Units.Add(int64(n))
			s.waited(time.Duration(n * float64(c.waits)))
			s.Busy(time.Duration(n * float64(c.works)))
			s.Awaited(lookEvery - time.Duration(n*float64(time.Millisecond)))
			tuner.Tick()
		}
		if n := g.Size(); n < c.least || n > c.most {
			t.Errorf("%s: %d readers, want %d to %d", name, n, c.least, c.most)
		}
	}
}
