package raster

// Region is the location of a buffer, relative to the processor that executes a program.
type Region uint8

// The regions.
const (
	Work    Region = iota // read and written by operations; undefined at first
	Input                 // sent to the processor
	Decoded               // decoded by the processor: planes of Program.Coded
	Result                // fetched from the processor
	Direct                // a result that the processor writes directly to its place
)

// Buffer is a piece of memory of a program.
type Buffer struct {
	Region Region
	Size   int64 // in bytes

	// Of an input, the bytes come from Rows rows of Row bytes that begin Stride
	// apart in Pix; they are put close together. An input without Pix is zeros.
	// Of a result, they go there in the same way, or, where Floats is set, as
	// float32 in the processor's byte order into that.
	Pix               []byte
	Row, Rows, Stride int
	Floats            []float32
}

// Blob is a table, such as weights or levels. Blobs that are equal (==) have the
// same bytes, so that those that many images share are sent once.
type Blob interface {
	// AppendTo appends the bytes, numbers in little-endian order.
	AppendTo(dst []byte) []byte
}

// Coded is a JPEG that a processor decodes before it does a program's operations.
type Coded struct {
	// Data is the file.
	Data []byte
	// Planes are its components, as stored: 1 or 3 of them.
	Planes []CodedPlane
}

// CodedPlane is a component of a [Coded]: its size in samples, which are contiguous from the
// beginning of the buffer of that index.
type CodedPlane struct {
	Buffer, Width, Height int
}

// Program is the work for one image. [Program.Reset] reuses its slices.
type Program struct {
	Buffers []Buffer
	Blobs   []Blob
	Ops     []Op
	// Stages has a number for each operation, which never decreases. Operations of the same stage
	// don't depend on each other.
	Stages []int32
	// Coded is the image to decode first; nothing without planes.
	Coded Coded
}

// Reset empties the program.
func (p *Program) Reset() {
	clear(p.Buffers) // lets the images go
	clear(p.Blobs)
	p.Buffers, p.Blobs, p.Ops, p.Stages = p.Buffers[:0], p.Blobs[:0], p.Ops[:0], p.Stages[:0]
	p.Coded = Coded{Planes: p.Coded.Planes[:0]}
}

// Add appends a buffer and returns its place.
func (p *Program) Add(b Buffer) Address {
	p.Buffers = append(p.Buffers, b)
	return p.Buffer(len(p.Buffers) - 1)
}

// Buffer returns the place of a buffer, by its index.
func (p *Program) Buffer(i int) Address { return Address(i+1) << addressBits }

// Table appends a blob, or finds it, and returns its place.
func (p *Program) Table(b Blob) Address {
	for i, have := range p.Blobs {
		if have == b {
			return blobAddress | Address(i+1)<<addressBits
		}
	}
	p.Blobs = append(p.Blobs, b)
	return blobAddress | Address(len(p.Blobs))<<addressBits
}

// Address is an address in a program: a byte of a buffer or of a blob. Before an operation is
// executed, it is replaced by an address of the processor. The zero value is none.
type Address uint64

const (
	addressBits = 48
	blobAddress = Address(1) << 63
	// most is the maximum number of buffers, and of blobs, in a program.
	most = 1<<(63-addressBits) - 1
)

// Split returns the index of the buffer or of the blob, and the byte in it. The
// place must not be none.
func (p Address) Split() (blob bool, index int, offset int64) {
	return p&blobAddress != 0, int(p&^blobAddress>>addressBits) - 1, int64(p & (1<<addressBits - 1))
}

// SortStages sorts the operations stably by stage: operations added plane by plane, through all
// stages, then run for all planes together.
func (p *Program) SortStages() {
	// By insertion, since most are in order.
	for i := 1; i < len(p.Ops); i++ {
		op, stage, j := p.Ops[i], p.Stages[i], i
		for ; j > 0 && p.Stages[j-1] > stage; j-- {
			p.Ops[j], p.Stages[j] = p.Ops[j-1], p.Stages[j-1]
		}
		if j < i {
			p.Ops[j], p.Stages[j] = op, stage
		}
	}
}

// Fits reports whether the buffers and blobs of the program fit into the limits.
func (p *Program) Fits() bool { return len(p.Buffers) <= most && len(p.Blobs) <= most }

// View is the memory layout of an image's samples: pixel (x, y) begins at At + y*Stride + x*Step.
type View struct {
	At           Address
	Stride, Step int32 // in bytes; either may be negative
}

// Move returns the view whose first pixel is (x, y).
func (v View) Move(x, y int) View {
	v.At += Address(int64(y)*int64(v.Stride) + int64(x)*int64(v.Step))
	return v
}

// Mirror returns the view of an image w pixels wide with left and right
// swapped.
func (v View) Mirror(w int) View {
	v = v.Move(w-1, 0)
	v.Step = -v.Step
	return v
}

// Flip returns the view of an image h pixels high with top and bottom swapped.
func (v View) Flip(h int) View {
	v = v.Move(0, h-1)
	v.Stride = -v.Stride
	return v
}

// Transpose returns the view with x and y swapped.
func (v View) Transpose() View {
	v.Stride, v.Step = v.Step, v.Stride
	return v
}
