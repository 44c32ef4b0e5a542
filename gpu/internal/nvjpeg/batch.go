package nvjpeg

// batch is images that the chip's decoder takes together.
type batch struct {
	gray       bool
	images     []*Image
	inFlight   bool
	reserved   extent
	unreserved bool // nvJPEG does not allocate beforehand
}

// extent is a number of images, and an upper bound on their sizes.
type extent struct{ n, width, height int }

// planes returns an upper bound on the bytes of planes of a batch.
func (e extent) planes() int { return 3 * e.n * e.width * e.height }

func (e extent) max(o extent) extent {
	return extent{max(e.n, o.n), max(e.width, o.width), max(e.height, o.height)}
}

// together decodes images that the chip's decoder takes, all at once or, if that fails, in halves.
func (d *Decoder) together(b *batch, group []*Image) error {
	if len(group) == 0 {
		return nil
	}
	for tries := 0; ; tries++ {
		if b.inFlight {
			if err := d.Wait(); err != nil {
				return err
			}
		}
		d.reserve(b, group)
		b.inFlight = true
		d.data, d.targets = d.data[:0], d.targets[:0]
		for _, p := range group {
			d.data = append(d.data, p.Data)
			d.targets = append(d.targets, p.target())
		}
		s := d.handles[Hardware].decodeBatch(b.gray, d.data, d.targets, d.stream.Handle())
		clear(d.data)
		if s == success {
			for _, p := range group {
				p.Backend = Hardware
			}
			d.counts[Hardware] += int64(len(group))
			return nil
		}
		// Whatever of it was begun may use the planes.
		if err := d.Wait(); err != nil {
			return err
		}
		for _, p := range group {
			if err := d.refill(p); err != nil {
				return err
			}
		}
		switch {
		case s == allocatorFailure:
			return d.noRoom("decode JPEGs")
		case len(group) > 1:
			if err := d.together(b, group[:len(group)/2]); err != nil {
				return err
			}
			return d.together(b, group[len(group)/2:])
		case s.final() || tries > 0:
			return d.one(group[0])
		}
	}
}

// How much is reserved: at first for a multiple of these, which batches of images of one kind do not
// exceed later, and never more than so many bytes of planes: of larger ones nvJPEG allocates each.
const (
	reserveImages = 16
	reserveSide   = 256
	reserveMost   = 256 << 20
)

// reserve lets nvJPEG allocate the memory for a batch once, for it and the next ones: otherwise it
// allocates again for each batch that is larger in any way. It only affects speed: if it fails,
// nvJPEG allocates as it decodes.
func (d *Decoder) reserve(b *batch, group []*Image) {
	want := extent{n: len(group)}
	for _, p := range group {
		want = want.max(extent{0, p.Info.Width, p.Info.Height})
	}
	up := func(n, unit int) int { return (n + unit - 1) / unit * unit }
	want = b.reserved.max(extent{up(want.n, reserveImages), up(want.width, reserveSide), up(want.height, reserveSide)})
	if want == b.reserved || want.planes() > reserveMost || b.unreserved {
		return
	}
	if d.handles[Hardware].reserve(b.gray, want.n, want.width, want.height) != success {
		b.unreserved = true
		return
	}
	b.reserved = want
}

// refill fills the planes of an image with its sentinel.
func (d *Decoder) refill(p *Image) error {
	if p.Sentinel == 0 {
		return nil
	}
	for i, size := range p.Info.Planes[:p.Info.Components] {
		if err := d.stream.Fill(p.To, p.Planes[i].At, size.Width*size.Height, p.Sentinel); err != nil {
			return err
		}
	}
	return nil
}
