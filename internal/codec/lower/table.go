package lower

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/codec/warp"
)

// What programs have as tables. Those that follow from few numbers are compared
// by these.

func appendInts(dst []byte, values []int32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}

// tapsTable is the weights of an axis. Tables that the cache of axes keeps are
// one and the same.
type tapsTable struct{ *resample.Axis }

func (t tapsTable) AppendTo(dst []byte) []byte {
	dst = appendInts(appendInts(dst, t.First), t.Count)
	for j := range t.Most {
		for i := range t.First {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(t.Weights[i*t.Width+j]))
		}
	}
	return dst
}

// nearestTable is the table of the pixels that Nearest takes.
type nearestTable struct{ lo, n, in, out int }

func (t nearestTable) AppendTo(dst []byte) []byte {
	for i := range t.n {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(resample.NearestSource(t.lo+i, t.in, t.out)))
	}
	return dst
}

// positionsTable maps positions, from at in steps of step, to pixels 0 to n-1, or -1 outside of
// them.
type positionsTable struct {
	at, step float64
	n, size  int
}

func (t positionsTable) AppendTo(dst []byte) []byte {
	at := t.at
	for range t.n {
		v := int32(-1)
		if warp.Inside(at, t.size) {
			v = int32(at)
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
		at += t.step
	}
	return dst
}

// levelsTable is a table for all channels.
type levelsTable struct{ recolor.Levels }

func (t levelsTable) AppendTo(dst []byte) []byte { return append(dst, t.Levels[:]...) }

// channelsTable is a table for each channel.
type channelsTable struct{ recolor.ChannelLevels }

func (t channelsTable) AppendTo(dst []byte) []byte {
	for c := range t.ChannelLevels {
		dst = append(dst, t.ChannelLevels[c][:]...)
	}
	return dst
}

// bellTable is half a bell curve.
type bellTable struct {
	size  int
	sigma float64
}

func (t bellTable) AppendTo(dst []byte) []byte {
	for _, w := range steps.AppendBell(nil, t.size, t.sigma) {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}

// quantilesTable is the normal distribution.
type quantilesTable struct{}

func (t quantilesTable) AppendTo(dst []byte) []byte {
	for _, v := range steps.NormalQuantiles() {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	return dst
}

// normalizeTable is the numbers that samples become.
type normalizeTable struct{ bitmap.Normalize }

func (t normalizeTable) AppendTo(dst []byte) []byte {
	for _, channel := range bitmap.LevelNumbers(&t.Normalize) {
		for _, v := range channel {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
	}
	return dst
}

var _ = []raster.Blob{tapsTable{}, nearestTable{}, positionsTable{}, levelsTable{}, channelsTable{}, bellTable{}, quantilesTable{}, normalizeTable{}}
