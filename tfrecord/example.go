package tfrecord

// Example is a parsed tf.train.Example. Parsing reuses its memory, so one Example serves for any
// number of records without allocations.
type Example struct {
	Features
}

// Parse parses a serialized tf.train.Example. The features alias data, which must not change while
// they are in use. All of data is validated, so that later accesses cannot fail.
//
// Parse accepts what any protocol buffer library would: packed and unpacked numbers, keys in any
// order, repeated keys (the last one wins), split lists, unset features; unknown fields are
// skipped. Malformed data give an [*Error] of PartParse with the offending byte, and leave the
// Example empty; [Reader.Locate] adds the record. So do more than [MaxFeatures] features.
func (e *Example) Parse(data []byte) error {
	e.reset()
	for pos := 0; pos < len(data); {
		tag, from, to, err := field(data, pos)
		pos = to
		if err == nil && tag == tagExampleFeatures {
			err = e.add(data[:to], from)
		}
		if err != nil {
			e.reset()
			return err
		}
	}
	e.entries.sort()
	return nil
}
