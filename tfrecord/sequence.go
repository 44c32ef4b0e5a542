package tfrecord

import "slices"

// SequenceExample is a parsed tf.train.SequenceExample: features of the whole,
// and lists of features, one a step. Parsing again uses its memory again.
type SequenceExample struct {
	Context Features
	Lists   FeatureLists
}

// Parse reads a serialized tf.train.SequenceExample, as [Example.Parse] reads
// an Example. More than [MaxSteps] steps are an error that unwraps to ErrTooMany.
func (s *SequenceExample) Parse(data []byte) error {
	s.reset()
	for pos := 0; pos < len(data); {
		tag, from, to, err := field(data, pos)
		pos = to
		if err == nil {
			switch tag {
			case tagExampleFeatures:
				err = s.Context.add(data[:to], from)
			case tagFeatureLists:
				err = s.Lists.add(data[:to], from)
			}
		}
		if err != nil {
			s.reset()
			return err
		}
	}
	s.Context.entries.sort()
	s.Lists.entries.sort()
	return nil
}

func (s *SequenceExample) reset() {
	s.Context.reset()
	s.Lists.reset()
}

// FeatureLists are the named feature lists of a parsed SequenceExample, in the
// order of their keys' bytes. They alias the message that was parsed and are
// valid until the next Parse.
type FeatureLists struct {
	entries keyed[FeatureList]
	steps   []Feature // of all lists
	joined  []byte    // values that a message gave in pieces
}

// FeatureList is a list of features, one a step. They may differ in kind and in
// number of values.
type FeatureList struct{ steps []Feature }

// Len returns how many steps there are.
func (l FeatureList) Len() int { return len(l.steps) }

// At returns the feature of step i.
func (l FeatureList) At(i int) Feature { return l.steps[i] }

// Len returns how many lists there are.
func (l *FeatureLists) Len() int { return len(l.entries.list) }

// At returns the i-th list and its key, which aliases the message.
func (l *FeatureLists) At(i int) (key []byte, list FeatureList) {
	e := &l.entries.list[i]
	return e.key, e.value
}

// Get returns the list of that key; false when there is none.
func (l *FeatureLists) Get(key string) (FeatureList, bool) { return l.entries.get(key) }

// Map returns a copy of all lists by key, with a value a step as
// [Features.Map] gives it.
func (l *FeatureLists) Map() map[string][]any {
	m := make(map[string][]any, l.Len())
	for _, e := range l.entries.list {
		steps := make([]any, e.value.Len())
		for i := range steps {
			steps[i] = e.value.At(i).Value()
		}
		m[string(e.key)] = steps
	}
	return m
}

func (l *FeatureLists) reset() {
	l.entries.reset()
	l.steps = l.steps[:0]
	l.joined = l.joined[:0]
}

// add reads a FeatureLists message. A second one adds to the first.
func (l *FeatureLists) add(data []byte, pos int) error {
	for pos < len(data) {
		tag, from, to, err := field(data, pos)
		if err != nil {
			return err
		}
		pos = to
		if tag == tagEntry {
			if err := l.addEntry(data[:to], from); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *FeatureLists) addEntry(data []byte, pos int) error {
	var key []byte
	start := len(l.steps)
	for pos < len(data) {
		tag, from, to, err := field(data, pos)
		if err != nil {
			return err
		}
		pos = to
		switch tag {
		case tagKey:
			key = data[from:to:to]
		case tagValue:
			if err := l.addSteps(data[:to], from); err != nil {
				return err
			}
		}
	}
	// A later append may move l.steps; these steps stay where they are.
	l.entries.add(key, FeatureList{slices.Clip(l.steps[start:])})
	if l.Len() > MaxFeatures {
		return tooMany(pos, MaxFeatures)
	}
	return nil
}

// addSteps reads a FeatureList message; a value in two pieces is one list.
func (l *FeatureLists) addSteps(data []byte, pos int) error {
	for pos < len(data) {
		tag, from, to, err := field(data, pos)
		if err != nil {
			return err
		}
		pos = to
		if tag != tagStep {
			continue
		}
		if len(l.steps) == MaxSteps {
			return tooMany(pos, MaxSteps)
		}
		value := pieces{joined: &l.joined}
		if err := value.add(data[:to], from); err != nil {
			return err
		}
		l.steps = append(l.steps, value.feature)
	}
	return nil
}
