package tfrecord

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// HeaderSize and FooterSize are the bytes of a frame before and after its payload.
const (
	HeaderSize = headerSize
	FooterSize = footerSize
)

// Verdict is the result of [Framing.Check] for a frame.
type Verdict uint8

const (
	// FrameWhole: the frame is complete, and both checksums match.
	FrameWhole Verdict = iota
	// FrameShort: there are fewer bytes than a header, or than the length says.
	FrameShort
	// FrameBroken: the length is invalid or over the limit. Where the next frame begins is unknown.
	FrameBroken
	// FrameDamaged: the length is valid, the payload is not.
	FrameDamaged
)

// Framing checks frames in memory, or in a file with random access. A [Reader] returns one record
// at a time and describes errors. Use Framing to check many frames in a buffer of your own, and to
// find intact frames after damage. The zero value checks everything, and accepts records of up to 1
// GiB.
type Framing struct {
	// Checksum selects the checksums to verify. Default: ChecksumFull.
	Checksum Checksum
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
}

// Framing returns the framing options.
func (o ReaderOptions) Framing() Framing { return Framing{o.Checksum, o.MaxRecord} }

// Check checks the frame at the beginning of p, without allocating. size is the size of the whole
// frame, whose payload is p[HeaderSize : size-FooterSize]; for a short one the number of bytes
// needed to continue; 0 for a broken one.
func (f Framing) Check(p []byte) (size int, v Verdict) {
	if len(p) < headerSize {
		return headerSize, FrameShort
	}
	length := binary.LittleEndian.Uint64(p)
	if length > f.largest() || f.Checksum != ChecksumOff && maskedLengthCRC(length) != binary.LittleEndian.Uint32(p[8:]) {
		return 0, FrameBroken
	}
	size = Overhead + int(length)
	if len(p) < size {
		return size, FrameShort
	}
	if f.Checksum == ChecksumFull && maskedCRC(p[headerSize:size-footerSize]) != binary.LittleEndian.Uint32(p[size-footerSize:]) {
		return size, FrameDamaged
	}
	return size, FrameWhole
}

// largest is MaxRecord, or less if an int is too small for the frame.
func (f Framing) largest() uint64 {
	if f.MaxRecord <= 0 {
		return defaultMaxRecord
	}
	return min(uint64(f.MaxRecord), math.MaxInt-Overhead)
}

// resyncWindow is the number of bytes searched at once.
const resyncWindow = 256 << 10

// Resync finds the first frame at or after offset whose length and payload both match their
// checksums, whatever Checksum is, and returns its offset, or the end of the file if there is none.
// The only errors are from reading r.
//
// The length checksum alone rules out all but one in 2³² of potential lengths; a payload is only
// read after that, a buffer at a time. A malicious file, full of headers without records, takes up
// to MaxRecord bytes of reading for each of them.
func (f Framing) Resync(r io.ReaderAt, offset int64) (int64, error) {
	window := make([]byte, resyncWindow)
	check := Framing{ChecksumFull, f.MaxRecord}
	largest := check.largest()
	for {
		n, err := r.ReadAt(window, offset)
		if err != nil && err != io.EOF {
			return 0, err
		}
		for i := 0; i+headerSize <= n; i++ {
			// The upper bytes of nearly all lengths are zero.
			length := binary.LittleEndian.Uint64(window[i:])
			if length > largest {
				continue
			}
			// A header is never all zeros: the masked checksum of length 0 is not 0.
			if length == 0 && binary.LittleEndian.Uint32(window[i+8:]) == 0 {
				i += zerosAt(window[i:n]) - headerSize // skip to the first nonzero byte
				continue
			}
			_, v := check.Check(window[i:n])
			if v == FrameShort {
				var err error
				if v, err = check.CheckAt(r, offset+int64(i)); err != nil {
					return 0, err
				}
			}
			if v == FrameWhole {
				return offset + int64(i), nil
			}
		}
		if err == io.EOF {
			return offset + int64(n), nil
		}
		offset += int64(n - headerSize + 1)
	}
}

// zerosAt returns the number of leading zeros in p.
func zerosAt(p []byte) int {
	n := 0
	for n+8 <= len(p) && binary.LittleEndian.Uint64(p[n:]) == 0 {
		n += 8
	}
	for n < len(p) && p[n] == 0 {
		n++
	}
	return n
}

// CheckAt checks the frame at offset of a file, without holding all of it in memory. A frame that
// extends past the end is short. The only errors are from reading r.
func (f Framing) CheckAt(r io.ReaderAt, offset int64) (Verdict, error) {
	var header [headerSize]byte
	n, err := r.ReadAt(header[:], offset)
	if err != nil && err != io.EOF {
		return FrameShort, err
	}
	size, v := f.Check(header[:n])
	if v != FrameShort || n < headerSize {
		return v, nil
	}
	// Its last byte shows whether the file is long enough.
	var last [1]byte
	if n, err := r.ReadAt(last[:], offset+int64(size)-1); n == 0 {
		if err == io.EOF {
			err = nil
		}
		return FrameShort, err
	}
	if f.Checksum != ChecksumFull {
		return FrameWhole, nil
	}
	return checkPayloadAt(r, offset+headerSize, int64(size-Overhead))
}

// checkPayloadAt compares length bytes at offset with the checksum after them.
func checkPayloadAt(r io.ReaderAt, offset, length int64) (Verdict, error) {
	in := io.NewSectionReader(r, offset, length+footerSize)
	var crc runningCRC
	if _, err := io.CopyN(&crc, in, length); err != nil {
		return shortOr(err)
	}
	var stored [footerSize]byte
	if _, err := io.ReadFull(in, stored[:]); err != nil {
		return shortOr(err)
	}
	if crc.masked() != binary.LittleEndian.Uint32(stored[:]) {
		return FrameDamaged, nil
	}
	return FrameWhole, nil
}

// shortOr returns FrameShort for a file that became shorter, else an error.
func shortOr(err error) (Verdict, error) {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return FrameShort, err
}

// Behind returns where reading may resume after the damaged frame at offset: after that frame if
// only its payload is damaged and the file ends there or another header follows, else where
// [Framing.Resync] finds a frame. It is at least offset+1. The only errors are from reading r.
func (f Framing) Behind(r io.ReaderAt, offset int64) (int64, error) {
	var header [headerSize]byte
	n, err := r.ReadAt(header[:], offset)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if size, v := f.Check(header[:n]); v == FrameShort && n == headerSize {
		next := offset + int64(size)
		follows, err := f.headerAt(r, next)
		if err != nil || follows {
			return next, err
		}
	}
	return f.Resync(r, offset+1)
}

// headerAt reports whether the file ends at offset, or a valid header begins there.
func (f Framing) headerAt(r io.ReaderAt, offset int64) (bool, error) {
	// One extra byte reveals a file that ends before offset.
	var p [1 + headerSize]byte
	n, err := r.ReadAt(p[:], offset-1)
	if err != nil && err != io.EOF {
		return false, err
	}
	if n == 1 {
		return true, nil
	}
	if n < len(p) {
		return false, nil
	}
	_, v := f.Check(p[1:])
	return v != FrameBroken, nil
}
