package bitmap

// Orient writes src to dst upright, given its EXIF orientation. The two must not share memory.
func Orient(dst, src *Image, orientation int) {
	w, h, n := src.Width, src.Height, src.Channels
	if orientation >= 5 {
		dst.Reset(h, w, n)
	} else {
		dst.Reset(w, h, n)
	}
	// Pixel (x, y) of src becomes first + x*right + y*down.
	var first, right, down int
	last, bottom := (dst.Width-1)*n, (dst.Height-1)*dst.Stride
	switch orientation {
	case 2:
		first, right, down = last, -n, dst.Stride
	case 3:
		first, right, down = bottom+last, -n, -dst.Stride
	case 4:
		first, right, down = bottom, n, -dst.Stride
	case 5:
		first, right, down = 0, dst.Stride, n
	case 6:
		first, right, down = last, dst.Stride, -n
	case 7:
		first, right, down = bottom+last, -dst.Stride, -n
	case 8:
		first, right, down = bottom, -dst.Stride, n
	default:
		first, right, down = 0, n, dst.Stride
	}
	// Tiles, because a quarter turn reads along rows what it writes along columns.
	const tile = 32
	for y0 := 0; y0 < h; y0 += tile {
		for x0 := 0; x0 < w; x0 += tile {
			for y := y0; y < min(y0+tile, h); y++ {
				row := src.Row(y)
				at := first + x0*right + y*down
				for x := x0; x < min(x0+tile, w); x++ {
					switch n {
					case 1:
						dst.Pix[at] = row[x]
					case 3:
						p, q := dst.Pix[at:at+3:at+3], row[3*x:3*x+3:3*x+3]
						p[0], p[1], p[2] = q[0], q[1], q[2]
					default: // samples of 16 bits
						copy(dst.Pix[at:at+n], row[n*x:n*x+n])
					}
					at += right
				}
			}
		}
	}
}
