package tfrecord

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
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
	parse := map[string]func(more int) error{
		"features": func(more int) error {
			return new(Example).Parse(appendField(nil, tagExampleFeatures, entries(MaxFeatures+more)))
		},
		"context": func(more int) error {
			return new(SequenceExample).Parse(appendField(nil, tagExampleFeatures, entries(MaxFeatures+more)))
		},
		"lists": func(more int) error {
			return new(SequenceExample).Parse(appendField(nil, tagFeatureLists, entries(MaxFeatures+more)))
		},
		"steps": func(more int) error {
			return new(SequenceExample).Parse(appendField(nil, tagFeatureLists, steps(MaxSteps+more)))
		},
	}
	for _, name := range torture.Sample(t, 2, slices.Sorted(maps.Keys(parse))) {
		for more := range 2 {
			err := parse[name](more)
			var e *Error
			if more == 0 && err != nil || more == 1 && (!errors.Is(err, ErrTooMany) || !errors.As(err, &e) || e.Part != PartParse) {
				t.Errorf("%s, %d too many: %v", name, more, err)
			}
		}
	}
}
