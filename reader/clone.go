package reader

import "slices"

// Clone returns a copy of the batch that stays valid, with its State.
func (b *ColumnBatch) Clone() *ColumnBatch {
	return &ColumnBatch{Columns: b.Columns.Clone(), Epoch: b.Epoch, mark: b.mark.clone()}
}

// Clone returns a copy of the batch that stays valid, with its State.
func (b *ImageBatch) Clone() *ImageBatch {
	d := *b
	d.Shape, d.Pixels, d.Bytes, d.Labels = slices.Clone(b.Shape), slices.Clone(b.Pixels), slices.Clone(b.Bytes), slices.Clone(b.Labels)
	d.Halves, d.Masks, d.SoftLabels = slices.Clone(b.Halves), slices.Clone(b.Masks), slices.Clone(b.SoftLabels)
	d.Lengths = slices.Clone(b.Lengths)
	d.Decoders, d.Objects, d.Columns = slices.Clone(b.Decoders), b.Objects.Clone(), b.Columns.Clone()
	d.imageWork = imageWork{}
	d.mark = b.mark.clone()
	return &d
}

// Clone returns a copy of the batch that stays valid, with its State. The data of its records are
// consecutive in memory.
func (b *RecordBatch) Clone() *RecordBatch {
	data := make([]byte, 0, payload(b.Records))
	d := &RecordBatch{Records: slices.Clone(b.Records), Epoch: b.Epoch, mark: b.mark.clone()}
	for i := range d.Records {
		r := &d.Records[i]
		from := len(data)
		data = append(data, r.Data...)
		r.Data = data[from:len(data):len(data)]
	}
	return d
}

// clone returns a mark with the same state that holds no block.
func (m mark) clone() mark {
	if m.block == nil && m.saved == nil {
		return m // of a batch that no flow made
	}
	s := m.whole()
	return mark{saved: &s}
}
