package tfrecord

import (
	"errors"
	"strconv"
	"testing"
)

// TestMessagesAreBounded parses messages with the maximum number of features, lists and steps, and
// with one more.
func TestMessagesAreBounded(t *testing.T) {
	entries := func(n int) (dst []byte) {
		for i := range n {
			dst = appendField(dst, tagEntry, appendField(nil, tagKey, strconv.AppendInt(nil, int64(i), 10)))
		}
		return dst
	}
	steps := func(n int) (dst []byte) {
		for range n {
			dst = appendField(dst, tagStep, nil)
		}
		return appendField(nil, tagEntry, appendField(nil, tagValue, dst))
	}
	for more := range 2 {
		features := entries(MaxFeatures + more)
		for name, err := range map[string]error{
			"features": new(Example).Parse(appendField(nil, tagExampleFeatures, features)),
			"context":  new(SequenceExample).Parse(appendField(nil, tagExampleFeatures, features)),
			"lists":    new(SequenceExample).Parse(appendField(nil, tagFeatureLists, features)),
			"steps":    new(SequenceExample).Parse(appendField(nil, tagFeatureLists, steps(MaxSteps+more))),
		} {
			var e *Error
			if more == 0 && err != nil || more == 1 && (!errors.Is(err, ErrTooMany) || !errors.As(err, &e) || e.Part != PartParse) {
				t.Errorf("%s, %d too many: %v", name, more, err)
			}
		}
	}
}
