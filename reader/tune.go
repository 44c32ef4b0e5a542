package reader

import "math"

// pace chooses how many workers a stage has. It looks at what happened since it
// looked last, and changes the number only for a reason that it can see: more
// when what comes after waits and all workers are busy, fewer when nobody waits
// and workers are idle. A change is on trial for some looks: more workers have
// to bring a share of what they promise, and fewer must be enough. What fails is
// taken back, and not tried again for a while, which doubles each time. So it
// settles.
//
// (tf.data's AUTOTUNE climbs a modelled hill, see model.cc in TensorFlow; this
// climbs the real one.)
type pace struct {
	least, most int
	now         int

	mean     float64 // elements a second with so many workers, lately
	from     int     // workers before a change that is on trial; 0: none is
	before   float64 // mean then
	looks    int     // of the trial
	careful  bool    // one more at a time, since a larger step failed
	hold     int     // looks to wait before the next change
	patience int     // looks that the last failure cost
	floor    int     // fewer were not enough, as long as
	floorFor int     // looks
	quiet    int     // looks in a row in which nobody waited
	busiest  float64 // workers at work in one of those, at most
}

// look is what a pace sees of a stage since its last look.
type look struct {
	seconds  float64
	elements float64
	busy     float64 // workers at work, on average
	awaited  float64 // share of the time that what comes after waited for it
	noMore   bool    // more workers cannot help
}

// The measures of a pace. Between starved and calm nothing changes.
const (
	starved  = 0.10 // of the time, and others wait too long
	calm     = 0.02 // of the time, and nobody waits
	atWork   = 0.80 // of the workers: all of them
	headroom = 1.25 // workers for one that is busy, when there are too many
	promised = 0.25 // of what more workers could bring at best, that they have to

	trialLooks    = 3
	calmLooks     = 4 // in a row, before there are fewer: work counts when it is done, so that a short look may miss some
	leastPatience = 2
	mostPatience  = 256
)

func newPace(start, least, most int) *pace {
	return &pace{least: least, most: most, now: min(max(start, least), most)}
}

// step takes a look and returns how many workers there are to be.
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

// judge ends a trial, some time.
func (p *pace) judge(l look) {
	from := p.from
	if p.now < from {
		p.from = 0
		if l.awaited > starved { // fewer were too few
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
	if p.careful { // more brought nothing, or little
		p.failed(from)
	}
}

// failed takes a change back.
func (p *pace) failed(before int) {
	p.now, p.mean = before, 0
	p.patience = min(max(2*p.patience, leastPatience), mostPatience)
	p.hold = p.patience
}

// depth chooses how many elements may wait in a queue. A queue that is now full,
// now empty is too short for the ups and downs of what is before and behind it,
// and doubled; one that was never nearly empty for a while is longer than it
// need be, and cut by what was never used. One that is always empty is no reason:
// there more workers are wanted. (The first rule is that of TensorFlow's
// prefetch_autotuner.cc.)
type depth struct {
	least, most int
	now         int

	quiet    int // looks in a row without an empty queue
	spare    int // fewest that waited in those looks
	patience int // quiet looks before it is cut
	cut      bool
	short    int // so few were too few, as long as
	shortFor int // looks
}

// queueLook is what a depth sees of a queue since its last look.
type queueLook struct {
	awaited float64 // share of the time that the consumer waited for the queue
	blocked float64 // share of the time that the producer waited for room
	fewest  int     // elements that were there when the consumer took one
}

// The measures of a depth.
const (
	quietLooks = 8
	shortLooks = 32 // times the patience: how long it is known what was too short
)

func newDepth(start, least, most int) *depth {
	return &depth{least: least, most: most, now: min(max(start, least), most), patience: quietLooks}
}

// step takes a look and returns how long the queue is to be.
func (d *depth) step(l queueLook) int {
	if d.shortFor > 0 {
		d.shortFor--
	}
	if l.awaited > calm {
		d.quiet = 0
		if l.blocked > calm && d.now < d.most {
			if d.cut { // too much was taken away
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
