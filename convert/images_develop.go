package convert

import "github.com/tfrec/tfrec/augment"

// takesPlanes reports whether a picture may be worked on in planes, as its header and the
// options say.
func (s *imageSource) takesPlanes(info augment.Info) bool {
	return !s.o.ExactPixels && s.o.Channels != 1 && s.codec.TakesPlanes(info)
}

// resizesPlanes reports whether the options resize in a way that planes can follow.
func (s *imageSource) resizesPlanes() bool { return s.o.resizes() && s.o.Resize.TakesPlanes() }

// storePlanes is store for pictures that go from JPEG to JPEG without a turn through RGB.
func (s *imageSource) storePlanes(sc *scratch, data []byte, w, h int) (out stored, f *fault) {
	if err := s.decodePlanes(sc, data, w, h); err != nil {
		return stored{}, &fault{"decode", err}
	}
	g := s.o.Resize.Geometry(w, h)
	if err := s.o.Resize.RenderPlanes(&sc.resizedPlanes, &sc.planes, g, s.o.Subsampling, &sc.resize); err != nil {
		return stored{}, &fault{"transform", err}
	}
	var err error
	if sc.encoded, err = s.codec.AppendJPEGPlanes(sc.encoded[:0], &sc.resizedPlanes, s.o.Quality); err != nil {
		return stored{}, &fault{"encode", err}
	}
	return stored{data: sc.encoded, format: string(JPEG), width: g.Width, height: g.Height, channels: 3}, nil
}

// storePixels is store by way of pixels.
func (s *imageSource) storePixels(sc *scratch, data []byte, draw augment.Draw, planar bool, w, h int) (stored, *fault) {
	im, f := s.develop(sc, data, draw, planar, w, h)
	if f != nil {
		return stored{}, f
	}
	out, err := s.encode(sc, im)
	if err != nil {
		return stored{}, &fault{"encode", err}
	}
	return out, nil
}

// develop decodes a picture of w by h pixels, does to it what was drawn, and resizes it: in planes
// up to where it has the size that it keeps, if they lead there. The result is valid as long as
// the scratch is.
func (s *imageSource) develop(sc *scratch, data []byte, draw augment.Draw, planar bool, w, h int) (*augment.Image, *fault) {
	sc.resize.Codec = s.codec // JPEG artefacts need one
	drawn := len(draw.Steps) > 0
	resize := s.o.resizes()
	var im *augment.Image
	switch {
	case planar && draw.TakesPlanes():
		opts := augment.DecodeOptions{Part: draw.Part(w, h)}
		opts.MinWidth, opts.MinHeight = draw.MinDecode(w, h)
		if _, err := s.codec.DecodePlanes(&sc.planes, data, opts); err != nil {
			return nil, &fault{"decode", err}
		}
		im = &sc.augmented
		if err := draw.ApplyPlanes(im, &sc.planes, &sc.resize); err != nil {
			return nil, &fault{"transform", err}
		}
		w, h = im.Width, im.Height
	case planar && !drawn && s.resizesPlanes():
		if err := s.decodePlanes(sc, data, w, h); err != nil {
			return nil, &fault{"decode", err}
		}
		im = &sc.resized
		if err := s.o.Resize.RenderRGB(im, &sc.planes, s.o.Resize.Geometry(w, h), &sc.resize); err != nil {
			return nil, &fault{"transform", err}
		}
		return im, nil
	default:
		opts := augment.DecodeOptions{Channels: s.o.Channels}
		if resize && !drawn && !s.o.ExactPixels {
			opts.MinWidth, opts.MinHeight = s.o.Resize.MinDecode(w, h)
		}
		im = &sc.decoded
		if _, err := s.codec.Decode(im, data, opts); err != nil {
			return nil, &fault{"decode", err}
		}
		if drawn {
			if err := draw.Apply(&sc.augmented, im, &sc.resize); err != nil {
				return nil, &fault{"transform", err}
			}
			im = &sc.augmented
			w, h = im.Width, im.Height
		}
	}
	if resize {
		// The geometry of the full size, so that a reduced decode ends alike.
		if err := s.o.Resize.Render(&sc.resized, im, s.o.Resize.Geometry(w, h), &sc.resize); err != nil {
			return nil, &fault{"transform", err}
		}
		im = &sc.resized
	}
	return im, nil
}

// decodePlanes decodes a picture to the scratch's planes, no smaller than resizing it wants it.
func (s *imageSource) decodePlanes(sc *scratch, data []byte, w, h int) error {
	var opts augment.DecodeOptions
	opts.MinWidth, opts.MinHeight = s.o.Resize.MinDecode(w, h)
	_, err := s.codec.DecodePlanes(&sc.planes, data, opts)
	return err
}
