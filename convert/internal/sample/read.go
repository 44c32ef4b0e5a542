package sample

import (
	"context"
	"errors"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/setdir"
)

// Read reads an image, and what is beside it into m, and returns their identity. The bytes are valid
// until the next image.
func (s *Maker) Read(ctx context.Context, m *Work, pic *origin.Image) (data []byte, hash string, in setdir.Input, err error) {
	if ahead := m.Fetched; ahead != nil && ahead.pic == pic && ahead.image.wanted {
		ahead.wait()
		data, in, err = ahead.image.data, ahead.image.input, ahead.image.err
	} else if data, in, err = s.Origin.Read(ctx, pic, m.file); err == nil {
		m.file = data
	}
	if err != nil {
		return nil, "", setdir.Input{}, err
	}
	data, m.beside = s.Origin.Parts(pic, data)
	hash = origin.HashOf(data, &m.beside)
	if in.Key != "" {
		in.Hash = hash
	}
	if pic.Mask() != nil {
		mask, err := s.ReadMask(ctx, m, pic)
		if err != nil {
			return nil, "", setdir.Input{}, err
		}
		hash += mask
	}
	return data, hash, in, nil
}

// EndsRun reports whether an error of read has a reason other than the image or its mask.
func (s *Set) EndsRun(err error) bool {
	var mask *maskError
	if errors.As(err, &mask) {
		return s.Masks.EndsRun(mask.err)
	}
	return s.Origin.EndsRun(err)
}
