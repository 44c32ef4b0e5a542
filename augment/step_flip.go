package augment

// HFlip swaps left and right.
type HFlip struct{}

// Op returns "hflip".
func (s HFlip) Op() string { return "hflip" }

// Size returns w and h.
func (s HFlip) Size(w, h int) (int, int) { return w, h }

// Validate returns nil.
func (s HFlip) Validate() error { return nil }

// MarshalJSON writes the step for [UnmarshalStep].
func (s HFlip) MarshalJSON() ([]byte, error) { return marshalStep(s.Op(), struct{}{}) }

// Apply is [Step.Apply].
func (s HFlip) Apply(dst, src *Image, scratch *Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	for y := range src.Height {
		mirror(dst.Row(y), src.Row(y), src.Channels)
	}
	return nil
}

// VFlip swaps top and bottom.
type VFlip struct{}

// Op returns "vflip".
func (s VFlip) Op() string { return "vflip" }

// Size returns w and h.
func (s VFlip) Size(w, h int) (int, int) { return w, h }

// Validate returns nil.
func (s VFlip) Validate() error { return nil }

// MarshalJSON writes the step for [UnmarshalStep].
func (s VFlip) MarshalJSON() ([]byte, error) { return marshalStep(s.Op(), struct{}{}) }

// Apply is [Step.Apply].
func (s VFlip) Apply(dst, src *Image, scratch *Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	for y := range src.Height {
		copy(dst.Row(src.Height-1-y), src.Row(y))
	}
	return nil
}

// mirror writes the pixels of a row in the opposite order.
func mirror(dst, src []uint8, channels int) {
	if channels == 1 {
		for i, v := range src {
			dst[len(dst)-1-i] = v
		}
		return
	}
	for ; len(src) >= 3 && len(dst) >= 3; src, dst = src[3:], dst[:len(dst)-3] {
		to := dst[len(dst)-3:]
		to[0], to[1], to[2] = src[0], src[1], src[2]
	}
}
