package region

import (
	"errors"
	"fmt"
)

// AppendCompressed appends runs as COCO's compressed string, a number of ASCII characters each: the
// difference from the run before the last one, five bits a character, the lowest first.
func AppendCompressed(dst []byte, runs []uint32) []byte {
	for i, n := range runs {
		v := int64(n)
		if i > 2 {
			v -= int64(runs[i-2])
		}
		for more := true; more; {
			c := byte(v & 0x1f)
			v >>= 5
			if more = v != -int64(c>>4); more {
				c |= 0x20
			}
			dst = append(dst, c+'0')
		}
	}
	return dst
}

// Errors of ParseCompressed.
var (
	errCharacter = errors.New("a character that compressed runs do not have")
	errCut       = errors.New("compressed runs that end within a number")
	errRange     = errors.New("a run whose length is negative or too large")
)

// ParseCompressed returns the runs of a string that AppendCompressed or pycocotools made. More than
// limit of them are an error.
func ParseCompressed(s []byte, limit int) ([]uint32, error) {
	runs := make([]uint32, 0, min(len(s), limit))
	for at := 0; at < len(s); {
		if len(runs) == limit {
			return nil, fmt.Errorf("more than %d runs", limit)
		}
		v, shift := int64(0), 0
		for more := true; more; at++ {
			if at == len(s) {
				return nil, errCut
			}
			c := s[at] - '0'
			if c > 0x3f {
				return nil, errCharacter
			}
			if shift > 35 {
				return nil, errRange
			}
			v |= int64(c&0x1f) << shift
			shift += 5
			if more = c&0x20 != 0; !more && c&0x10 != 0 {
				v |= -1 << shift
			}
		}
		if len(runs) > 2 {
			v += int64(runs[len(runs)-2])
		}
		if v != int64(uint32(v)) {
			return nil, errRange
		}
		runs = append(runs, uint32(v))
	}
	return runs, nil
}
