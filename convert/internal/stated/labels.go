package stated

// Labels numbers labels in the order in which they are first seen.
type Labels struct {
	Names []string
	ids   map[string]int32
}

// Shared returns the only copy of a label.
func (l *Labels) Shared(label string) *string { return &l.Names[l.Number(label)] }

// Number returns the number of a label, its index in Names.
func (l *Labels) Number(label string) int32 {
	id, ok := l.ids[label]
	if !ok {
		if l.ids == nil {
			l.ids = map[string]int32{}
		}
		id = int32(len(l.Names))
		l.Names = append(l.Names, label)
		l.ids[label] = id
	}
	return id
}
