package augment

import (
	"encoding/json"
	"fmt"
)

// Draw is what a [Policy] decided for one picture: steps with exact parameters,
// in their order. Its JSON, an array of steps, is what records keep of it. The
// zero value leaves a picture as it is.
type Draw struct {
	Steps []Step
}

// Size returns the size of what the steps make of a picture of w x h pixels.
func (d Draw) Size(w, h int) (int, int) {
	for _, s := range d.Steps {
		w, h = s.Size(w, h)
	}
	return w, h
}

// Apply makes dst what the steps make of src, reusing dst's memory. dst and src
// must not share memory; src is not changed. scratch may be nil, but for steps
// that need a codec. An error says which step it was, counted from 0.
func (d Draw) Apply(dst, src *Image, scratch *Scratch) error {
	if len(d.Steps) == 0 {
		if err := src.check(); err != nil {
			return fmt.Errorf("copy: %w", err)
		}
		dst.Reset(src.Width, src.Height, src.Channels)
		copyRows(dst, src)
		return nil
	}
	scratch, free := scratch.orOwn()
	defer free()
	return d.apply(dst, src, 0, scratch)
}

// apply does the steps, which are counted from first in errors. src may be what scratch keeps
// between steps, the second of the two.
func (d Draw) apply(dst, src *Image, first int, scratch *Scratch) error {
	from := src
	for i, s := range d.Steps {
		to := &scratch.steps.draw[i&1]
		if i == len(d.Steps)-1 {
			to = dst
		}
		if err := s.Apply(to, from, scratch); err != nil {
			return fmt.Errorf("step %d: %w", first+i, err)
		}
		from = to
	}
	return nil
}

// MarshalJSON writes an array of the steps: never null.
func (d Draw) MarshalJSON() ([]byte, error) {
	if len(d.Steps) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal(d.Steps)
}

// UnmarshalJSON reads what MarshalJSON writes, each step as strictly as
// [UnmarshalStep].
func (d *Draw) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	d.Steps = nil
	for i, r := range raw {
		s, err := UnmarshalStep(r)
		if err != nil {
			return fmt.Errorf("draw: step %d: %w", i, err)
		}
		d.Steps = append(d.Steps, s)
	}
	return nil
}
