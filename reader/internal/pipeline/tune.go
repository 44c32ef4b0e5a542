package pipeline

import "math"

// pace chooses the number of workers of a stage. It samples the stage, and changes the number only
// for a visible reason: more when the consumer waits and all workers are busy, fewer when it does
// not wait and workers are idle. A change is on trial for some samples: more workers have to
// deliver a share of the expected gain, and fewer must be enough. A change that fails is reverted,
// and not tried again for a while, which doubles each time. So the number settles.
//
// (tf.data's AUTOTUNE climbs a modelled hill, see model.cc in TensorFlow; this climbs the real
// one.)
type pace struct {
	least, most int
	now         int

	mean     float64 // recent elements per second with this many workers
	from     int     // workers before the change on trial; 0: none
	before   float64 // mean then
	looks    int     // of the trial
	careful  bool    // one at a time, since a larger step failed
	hold     int     // looks to wait before the next change
	patience int     // samples that the last failure cost
	floor    int     // fewer were not enough, for
	floorFor int     // this many more samples
	quiet    int     // consecutive samples in which the consumer did not wait
	busiest  float64 // maximum of busy workers in these
}

// look is one sample of a stage.
type look struct {
	seconds  float64
	elements float64
	busy     float64 // busy workers, on average
	awaited  float64 // share of the time that the consumer waited
	noMore   bool    // more workers cannot help
}

// Thresholds of a pace. Between starved and calm nothing changes.
const (
	starved  = 0.10 // of the time: the consumer waits too long
	calm     = 0.02 // of the time: the consumer does not wait
	atWork   = 0.80 // of the workers: all are busy
	headroom = 1.25 // workers per busy one, from which there are too many
	promised = 0.25 // of the best possible gain of more workers, required

	trialLooks    = 3
	calmLooks     = 4 // consecutive, before reducing: a short sample may miss work that is not done
	leastPatience = 2
	mostPatience  = 256
)

func NewPace(start, least, most int) *pace {
	return &pace{least: least, most: most, now: min(max(start, least), most)}
}

// step takes a sample and returns the new number of workers.
func (p *pace) step(l look) int {
	rate := l.elements / l.seconds
	if p.mean == 0 {
		p.mean = rate
	}
	p.mean += (rate - p.mean) / trialLooks
	if p.floorFor > 0 {
		p.floorFor--
	}
	if l.awaited >= calm {
		p.quiet, p.busiest = 0, 0
	}
	switch {
	case p.from > 0:
		p.judge(l)
	case p.hold > 0:
		p.hold--
	case l.awaited > starved && l.busy >= atWork*float64(p.now) && !l.noMore:
		more := max(p.now/2, 1)
		if p.careful {
			more = 1
		}
		p.change(min(p.now+more, p.most))
	case l.awaited < calm:
		p.quiet, p.busiest = p.quiet+1, max(p.busiest, l.busy)
		if p.quiet < calmLooks {
			break
		}
		to := max(int(math.Ceil(p.busiest*headroom)), p.now/2, p.least)
		p.quiet, p.busiest = 0, 0
		if p.floorFor > 0 {
			to = max(to, p.floor)
		}
		p.change(min(to, p.now))
	}
	return p.now
}

// change puts another number on trial.
func (p *pace) change(to int) {
	if to != p.now {
		p.from, p.before, p.now, p.mean, p.looks = p.now, p.mean, to, 0, 0
	}
}

// judge ends a trial when it is over.
func (p *pace) judge(l look) {
	from := p.from
	if p.now < from {
		p.from = 0
		if l.awaited > starved { // too few workers
			p.failed(from)
			p.floor, p.floorFor = from, p.patience
		}
		return
	}
	if p.looks++; p.looks < trialLooks {
		return
	}
	p.from = 0
	best := float64(p.now) / float64(from)
	p.careful = l.awaited > calm && p.mean < p.before*(1+promised*(best-1))
	if p.careful { // more workers brought little or nothing
		p.failed(from)
	}
}

// failed reverts a change.
func (p *pace) failed(before int) {
	p.now, p.mean = before, 0
	p.patience = min(max(2*p.patience, leastPatience), mostPatience)
	p.hold = p.patience
}

// depth chooses the length of a queue. A queue that is alternately full and empty is too short for
// the fluctuations around it, and is doubled; one that was never nearly empty for a while is too
// long, and is cut by what was never used. One that is always empty stays unchanged: it needs more
// workers before it. (The first rule is from TensorFlow's prefetch_autotuner.cc.)
type depth struct {
	least, most int
	now         int

	quiet    int // consecutive samples without an empty queue
	spare    int // fewest queued elements in these
	patience int // quiet samples before it is cut
	cut      bool
	short    int // this length was too short, for
	shortFor int // this many more samples
}

// queueLook is one sample of a queue.
type queueLook struct {
	awaited float64 // share of the time that the consumer waited for the queue
	blocked float64 // share of the time that the producer waited for room
	fewest  int     // elements queued when the consumer took one, at least
}

// Thresholds of a depth.
const (
	quietLooks = 8
	shortLooks = 32 // times the patience: how long a length is remembered as too short
)

func NewDepth(start, least, most int) *depth {
	return &depth{least: least, most: most, now: min(max(start, least), most), patience: quietLooks}
}

// step takes a sample and returns the new length of the queue.
func (d *depth) step(l queueLook) int {
	if d.shortFor > 0 {
		d.shortFor--
	}
	if l.awaited > calm {
		d.quiet = 0
		if l.blocked > calm && d.now < d.most {
			if d.cut { // it was cut too far
				d.patience = min(2*d.patience, mostPatience)
				d.cut = false
				d.short, d.shortFor = d.now, shortLooks*d.patience
			}
			d.now = min(2*d.now, d.most)
		}
		return d.now
	}
	if d.quiet == 0 || l.fewest < d.spare {
		d.spare = l.fewest
	}
	d.quiet++
	if d.quiet >= d.patience {
		d.quiet = 0
		to := max(d.now-d.spare/2, d.least)
		if d.shortFor > 0 {
			to = max(to, d.short+1)
		}
		if d.spare > 1 && to < d.now {
			d.now, d.cut = to, true
		}
	}
	return d.now
}
