package tfrecord

// countList validates the content of a list of a kind, and counts its values.
func countList(data []byte, pos int, kind Kind) (n int, err error) {
	for pos < len(data) {
		tag, from, err := readTag(data, pos)
		if err != nil {
			return 0, err
		}
		k := 1
		switch {
		case tag == tagBytes && kind == KindBytes:
			_, pos, err = delimited(data, from)
		case tag == tagVarint && kind == KindInt64:
			_, pos, err = varint(data, from)
		case tag == tagFixed32 && kind == KindFloat:
			pos, err = skip(data, from, tag)
		case tag == tagPacked:
			if from, pos, err = delimited(data, from); err == nil {
				k, err = countPacked(data[:pos], from, kind)
			}
		default:
			k = 0
			pos, err = skip(data, from, tag)
		}
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

// countPacked validates packed numbers and counts them.
func countPacked(data []byte, pos int, kind Kind) (n int, err error) {
	if kind == KindFloat {
		if size := len(data) - pos; size%4 != 0 {
			return 0, malformed(pos, "%d bytes of packed floats are not a multiple of 4", size)
		}
		return (len(data) - pos) / 4, nil
	}
	for ; pos < len(data); n++ {
		if _, pos, err = varint(data, pos); err != nil {
			return 0, err
		}
	}
	return n, nil
}
