package parquet

import (
	"encoding/binary"
	"errors"
	"math/big"
	"strconv"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/number"
)

// maxScale is the maximum number of digits of a decimal after the point.
const maxScale = 1 << 10

// maxDecimal is the maximum size of a decimal in bytes: more than 76 digits fit.
const maxDecimal = 64

// appendInt appends an integer, converted according to the form and the wanted kind. Unsigned
// integers of 64 bits above int64 become negative, and the caller must look for these.
func (p *page) appendInt(v int64) {
	if p.leaf.form == formUnsigned && p.leaf.physical == typeInt32 {
		v = int64(uint32(v))
	}
	switch {
	case p.leaf.form == formDecimal:
		p.appendDecimal(number.Small(v, p.leaf.scale))
	case p.kind == table.Int64:
		p.ints = append(p.ints, v)
	case p.kind == table.Bytes:
		if p.leaf.form == formUnsigned {
			p.data = strconv.AppendUint(p.data, uint64(v), 10)
		} else {
			p.data = strconv.AppendInt(p.data, v, 10)
		}
		p.ends = append(p.ends, int32(len(p.data)))
	case p.kind == table.Float && p.leaf.form == formUnsigned:
		p.floats = append(p.floats, float32(uint64(v)))
	case p.kind == table.Float:
		p.floats = append(p.floats, float32(v))
	}
}

// appendBytes appends a value of bytes, converted according to the form and the wanted kind.
func (p *page) appendBytes(b []byte) error {
	switch p.leaf.form {
	case formDecimal:
		if len(b) > maxDecimal {
			return errors.New("a decimal of more than 64 bytes")
		}
		v := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0]&0x80 != 0 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		p.appendDecimal(number.Decimal{Unscaled: v, Scale: p.leaf.scale})
		return nil
	case formHalf:
		p.floats = append(p.floats, number.Half(binary.LittleEndian.Uint16(b)))
		return nil
	}
	return p.addBytes(b)
}

func (p *page) addBytes(b []byte) error {
	if len(p.data) > maxBatch-len(b) {
		return errTooLarge
	}
	p.data = append(p.data, b...)
	p.ends = append(p.ends, int32(len(p.data)))
	return nil
}

func (p *page) appendDecimal(d number.Decimal) {
	if p.kind == table.Bytes {
		p.data = d.AppendText(p.data)
		p.ends = append(p.ends, int32(len(p.data)))
		return
	}
	p.appendFloat64(d.Float64())
}

func (p *page) appendFloat64(x float64) {
	f, fits := table.Float32(x)
	if !fits {
		p.lost = append(p.lost, table.LostFloat(len(p.floats), x))
	}
	p.floats = append(p.floats, f)
}

var errTooLarge = errors.New("the values take more than 2 GiB: write the file in smaller row groups")
