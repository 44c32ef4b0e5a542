package imagerecord

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Read reads an image, with its other features into m, and returns their identity. The bytes are valid
// until the next image.
func (s *Maker) Read(ctx context.Context, m *Work, pic *origin.Image) (data []byte, hash string, in setdir.Input, err error) {
	data, in, err, ahead := m.Fetched.Image(pic)
	if !ahead {
		if data, in, err = s.Origin.Read(ctx, pic, m.file); err == nil {
			m.file = data
		}
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

// ReadMask reads the mask of an image into m and returns its hash.
func (s *Maker) ReadMask(ctx context.Context, m *Work, pic *origin.Image) (hash string, err error) {
	mask := pic.Mask()
	data, in, err, ahead := m.Fetched.Mask(pic)
	if !ahead {
		data, in, err = s.Masks.Read(ctx, mask, m.MaskFile)
	}
	if err != nil {
		return "", &maskError{mask.Path, err}
	}
	sum := xxh3.Hash128(data).Bytes()
	hash = hex.EncodeToString(sum[:])
	if m.MaskFile = data; in.Key != "" {
		in.Key, in.Hash = setdir.InputKey(s.MaskKey(mask.Path)), hash
		m.MaskInput = in
	}
	return hash, nil
}

// maskError is an error of reading a mask. It hides the path of the file, as withoutPath does.
type maskError struct {
	mask string
	err  error
}

func (e *maskError) Error() string {
	return fmt.Sprintf("mask %s: %v", jsontext.Readable(e.mask), origin.WithoutPath(e.err))
}

// EndsRun reports whether an error of read has a reason other than the image or its mask.
func (s *Maker) EndsRun(err error) bool {
	var mask *maskError
	if errors.As(err, &mask) {
		return s.Masks.EndsRun(mask.err)
	}
	return s.Origin.EndsRun(err)
}
