package steps

import (
	"encoding/json"
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Draw is the decision of a [policy.Policy] for one image: steps with exact parameters, in their
// order. Records store its JSON, an array of steps. The zero value leaves an image unchanged.
type Draw struct {
	Steps []Step
}

// Size returns the size of the result for an image of w x h pixels.
func (d Draw) Size(w, h int) (int, int) {
	for _, s := range d.Steps {
		w, h = s.size(w, h)
	}
	return w, h
}

// Apply applies the steps to src and stores the result in dst, reusing its memory. dst and src must
// not share memory; src is not changed. scratch may be nil, except for steps that need a codec. An
// error names the step, counted from 0.
func (d Draw) Apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if len(d.Steps) == 0 {
		if err := bitmap.CheckImage(src); err != nil {
			return fmt.Errorf("copy: %w", err)
		}
		dst.Reset(src.Width, src.Height, src.Channels)
		bitmap.CopyRows(dst, src)
		return nil
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	return d.apply(dst, src, 0, scratch)
}

// apply does the steps, which are counted from first in errors, colour steps that come one after
// another together. src may be what scratch keeps between steps, the second of the two.
func (d Draw) apply(dst, src *bitmap.Image, first int, scratch *workspace.Scratch) error {
	from := src
	for i, turn := 0, 0; i < len(d.Steps); turn++ {
		colors := i
		for colors < len(d.Steps) && IsColor(d.Steps[colors]) {
			colors++
		}
		next := max(colors, i+1)
		to := &workspace.Of(scratch).Steps.Draw[turn&1]
		if next == len(d.Steps) {
			to = dst
		}
		var failed int
		var err error
		if colors > i {
			failed, err = recolorTogether(scratch, to, from, d.Steps[i:colors])
		} else {
			err = d.Steps[i].apply(to, from, scratch)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", first+i+failed, err)
		}
		from, i = to, next
	}
	return nil
}

// MarshalJSON writes an array of the steps, never null. Each is an object of its operation's name
// and its fields, such as {"op":"rotate","angle":12.5,"filter":"nearest"}.
func (d Draw) MarshalJSON() ([]byte, error) {
	out := []byte("[")
	for i, s := range d.Steps {
		if i > 0 {
			out = append(out, ',')
		}
		step, err := marshalStep(s)
		if err != nil {
			return nil, err
		}
		out = append(out, step...)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes. All fields of a step are required, except those that
// are omitted when zero. Unknown operations and fields are errors, and so are values out of range.
func (d *Draw) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	d.Steps = nil
	for i, r := range raw {
		s, err := unmarshalStep(r)
		if err != nil {
			return fmt.Errorf("draw: step %d: %w", i, err)
		}
		d.Steps = append(d.Steps, s)
	}
	return nil
}
