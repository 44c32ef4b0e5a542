package reader

import "math"

// pace chooses how many workers a stage has. It looks at what happened since it
// looked last, and changes the number only for a reason that it can see: more
// when what comes after waits and all workers are busy, fewer when nobody waits
// and workers are idle. More are on trial until the next look: what brings no
// more elements is taken back, and not tried again for a while, which doubles
// each time. So it settles.
//
// (tf.data's AUTOTUNE climbs a modelled hill, see model.cc in TensorFlow; this
// climbs the real one.)
type pace struct {
	least, most int
	now         int

	from     int     // workers before a change that is on trial; 0: none is
	rate     float64 // elements a second before it
	hold     int     // looks to wait before the next change
	patience int     // looks that the last failure cost
	floor    int     // fewer were not enough, as long as
	floorFor int     // looks
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
	gain     = 1.05 // elements a second that a trial has to bring

	leastPatience = 2
	mostPatience  = 256
)

func newPace(start, least, most int) *pace {
	return &pace{least: least, most: most, now: min(max(start, least), most)}
}

// step takes a look and returns how many workers there are to be.
func (p *pace) step(l look) int {
	rate := l.elements / l.seconds
	before := p.from
	p.from = 0
	switch {
	case before > 0 && before < p.now && rate < p.rate*gain && l.awaited > calm:
		p.failed(before) // more brought nothing
		return p.now
	case before > p.now && l.awaited > starved:
		p.failed(before) // fewer were too few
		p.floor, p.floorFor = before, p.patience
		return p.now
	}
	if p.floorFor > 0 {
		p.floorFor--
	}
	if p.hold > 0 {
		p.hold--
		return p.now
	}
	to := p.now
	switch {
	case l.awaited > starved && l.busy >= atWork*float64(p.now) && !l.noMore:
		to = min(p.now+max(p.now/2, 1), p.most)
	case l.awaited < calm:
		to = max(int(math.Ceil(l.busy*headroom)), p.now/2, p.least)
		if p.floorFor > 0 {
			to = max(to, p.floor)
		}
		to = min(to, p.now)
	}
	if to != p.now {
		p.from, p.rate, p.now = p.now, rate, to
	}
	return p.now
}

// failed takes a change back.
func (p *pace) failed(before int) {
	p.now = before
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
}

// queueLook is what a depth sees of a queue since its last look.
type queueLook struct {
	awaited float64 // share of the time that the consumer waited for the queue
	blocked float64 // share of the time that the producer waited for room
	fewest  int     // elements that were there when the consumer took one
}

const quietLooks = 8

func newDepth(start, least, most int) *depth {
	return &depth{least: least, most: most, now: min(max(start, least), most), patience: quietLooks}
}

// step takes a look and returns how long the queue is to be.
func (d *depth) step(l queueLook) int {
	if l.awaited > calm {
		d.quiet = 0
		if l.blocked > calm && d.now < d.most {
			if d.cut { // too much was taken away
				d.patience = min(2*d.patience, mostPatience)
				d.cut = false
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
		if to := max(d.now-d.spare/2, d.least); d.spare > 1 && to < d.now {
			d.now, d.cut = to, true
		}
	}
	return d.now
}
