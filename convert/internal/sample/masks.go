package sample

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/augment"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation/maskcolors"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/masks"
	"github.com/tfrec/tfrec/internal/setdir"
)

// maskError is an error of reading a mask. It hides the path of the file, as withoutPath does.
type maskError struct {
	mask string
	err  error
}

func (e *maskError) Error() string {
	return fmt.Sprintf("mask %s: %v", jsontext.Readable(e.mask), origin.WithoutPath(e.err))
}

// MaskKey identifies a mask among the inputs: keys of images are relative paths.
func (s *Set) MaskKey(path string) string { return s.Masks.Place() + "/" + path }

// ReadMask reads the mask of an image into m and returns its hash.
func (s *Set) ReadMask(ctx context.Context, m *Work, pic *origin.Image) (hash string, err error) {
	mask := pic.Mask()
	var data []byte
	var in setdir.Input
	if ahead := m.Fetched; ahead != nil && ahead.pic == pic && ahead.mask.wanted {
		ahead.wait()
		data, in, err = ahead.mask.data, ahead.mask.input, ahead.mask.err
	} else {
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

// PlaceMask makes the mask of classes of the image as it is stored.
func (s *placer) PlaceMask(m *Work, own *placement, mask *origin.Image) error {
	p := *own
	w, h, err := s.decodeMask(m, &p, mask)
	if err != nil {
		return err
	}
	if len(m.partners) > 0 {
		if p.draw, err = s.mixMasks(m, s.Options.Annotations.FillClass()); err != nil {
			return err
		}
	}
	return s.storeMask(m, &p, w, h)
}

// storeMask makes the mask of classes of the image as it is stored of the one in m.drawn, which is
// annotated on an image of w x h pixels.
func (s *placer) storeMask(m *Work, p *placement, w, h int) error {
	placed, err := p.mask(m, w, h, s.Options.Annotations.FillClass())
	if err == nil {
		m.Segmentation, err = augment.AppendPNG(m.Segmentation[:0], placed)
	}
	return err
}

// decodeMask decodes the mask of classes of an image into m.drawn, and returns its size.
func (s *placer) decodeMask(m *Work, p *placement, mask *origin.Image) (w, h int, err error) {
	info, err := s.codec.Stat(m.MaskFile)
	if err != nil {
		return 0, 0, fmt.Errorf("mask %s: %w", jsontext.Readable(mask.Path), err)
	}
	w, h = info.Oriented()
	if turned := p.turned(w, h); !turned && (w != p.width || h != p.height) {
		return 0, 0, fmt.Errorf("mask %s is %dx%d, and the image %dx%d", jsontext.Readable(mask.Path), w, h, p.width, p.height)
	}
	if s.Colors != nil && masks.IsRGB(info) {
		err = s.Colors.Table.Decode(s.codec, &m.drawn, m.MaskFile)
	} else if _, err = s.codec.DecodeMask(&m.drawn, m.MaskFile); err != nil && !info.Mask && s.Masks != nil {
		err = fmt.Errorf("%w, or RGB with 8 bits a sample and no transparency, with the colours of classes in %s, in the directory of masks or next to it", err, maskcolors.File)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("mask %s: %w", jsontext.Readable(mask.Path), err)
	}
	return w, h, nil
}
