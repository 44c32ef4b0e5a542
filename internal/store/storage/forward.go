package storage

import "io"

// Forward returns f for a single goroutine that reads short stretches of all of it, one after the
// other, such as the header of each record. An object is then read from front to back in large
// parts ahead of the reader, instead of with a request for each stretch. Stretches more than a part
// (4 MiB) apart are requested on their own. Other files are returned as they are.
func Forward(f File) File {
	o, ok := f.(*object)
	if !ok {
		return f
	}
	return &forward{object: o}
}

// forward is an object that is read forward.
type forward struct {
	*object
	end  int64  // where the last read ended
	tail []byte // the last mostTail bytes before end, which the next read may begin with
}

// mostTail bounds the overlap of two reads. The parts of the overlap are dropped as soon as a read
// continues after them.
const mostTail = 256 << 10

func (f *forward) ReadAt(p []byte, off int64) (n int, err error) {
	begin := f.end - int64(len(f.tail))
	if off < begin || off > f.end+partSize {
		return f.object.ReadAt(p, off)
	}
	if off < f.end {
		n = copy(p, f.tail[off-begin:])
	}
	for n < len(p) && err == nil {
		at := off + int64(n)
		if at >= f.is.Size {
			err = io.EOF
			break
		}
		var got int
		got, err = f.ahead.read(p[n:min(int64(len(p)), f.is.Size-off)], at, true)
		n += got
	}
	if end := off + int64(n); end > f.end {
		f.end = end
		f.tail = append(f.tail[:0], p[max(0, n-mostTail):n]...)
	}
	return n, err
}
