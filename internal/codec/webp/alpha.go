package webp

import "fmt"

// readAlpha reads an ALPH chunk for an image of w by h pixels (RFC 9649, 2.7.1.2).
func (d *Decoder) readAlpha(body []byte, w, h int) error {
	head, data := body[0], body[1:]
	if levels, reserved := head>>4&3, head>>6; levels > 1 || reserved != 0 {
		return fmt.Errorf("%w: alpha of kind %#x", errStrict, head)
	}
	switch head & 3 {
	case 0:
		if len(data)/w < h {
			return errShort
		}
		d.alpha = append(d.alpha[:0], data[:w*h]...)
	case 1:
		if w > 1<<14 || h > 1<<14 {
			return errFormat
		}
		m, err := d.lossless.decode(data, w, h)
		if err != nil {
			return err
		}
		d.alpha = sized(d.alpha, w*h)
		for i := range d.alpha {
			d.alpha[i] = m.Pix[4*i+1]
		}
	default:
		return errFormat
	}
	unfilterAlpha(d.alpha, w, head>>2&3)
	return nil
}

// unfilterAlpha adds to each value what it was predicted to be.
func unfilterAlpha(alpha []byte, w int, filter uint8) {
	const (
		horizontal = 1 + iota
		vertical
		gradient
	)
	if filter == 0 {
		return
	}
	row := alpha[:w]
	for x := 1; x < w; x++ {
		row[x] += row[x-1]
	}
	for at := w; at < len(alpha); at += w {
		above, row := alpha[at-w:at], alpha[at:at+w]
		row[0] += above[0]
		switch filter {
		case horizontal:
			for x := 1; x < w; x++ {
				row[x] += row[x-1]
			}
		case vertical:
			for x := 1; x < w; x++ {
				row[x] += above[x]
			}
		case gradient:
			for x := 1; x < w; x++ {
				row[x] += clip(int32(row[x-1]) + int32(above[x]) - int32(above[x-1]))
			}
		}
	}
}
