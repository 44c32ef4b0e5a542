package tfrecord

import "slices"

// SequenceExample is a parsed tf.train.SequenceExample: context features, and lists of features,
// one per step. Parsing reuses its memory.
type SequenceExample struct {
	Context Features
	Lists   FeatureLists
}

// Parse parses a serialized tf.train.SequenceExample, as [Example.Parse] does an Example. More than
// [MaxSteps] steps are an error that unwraps to ErrTooMany.
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

// FeatureLists are the named feature lists of a parsed SequenceExample, in byte order of their
// keys. They alias the parsed message and are valid until the next Parse.
type FeatureLists struct {
	entries keyed[FeatureList]
	steps   []Feature // of all lists
	joined  []byte    // values that were split in the message
}

// FeatureList is a list of features, one per step. They may differ in kind and in number of values.
type FeatureList struct{ steps []Feature }

// Len returns the number of steps.
func (l FeatureList) Len() int { return len(l.steps) }

// At returns the feature of step i.
func (l FeatureList) At(i int) Feature { return l.steps[i] }

// Len returns the number of lists.
func (l *FeatureLists) Len() int { return len(l.entries.list) }

// At returns the i-th list and its key, which aliases the message.
func (l *FeatureLists) At(i int) (key []byte, list FeatureList) {
	e := &l.entries.list[i]
	return e.key, e.value
}

// Get returns the list with that key; false if there is none.
func (l *FeatureLists) Get(key string) (FeatureList, bool) { return l.entries.get(key) }

// Map returns a copy of all lists by key, with one value per step as in [Features.Map].
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

// add parses a FeatureLists message. A second one adds to the first.
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
	// A later append may reallocate l.steps; these steps stay valid.
	l.entries.add(key, FeatureList{slices.Clip(l.steps[start:])})
	if l.Len() > MaxFeatures {
		return tooMany(pos, MaxFeatures)
	}
	return nil
}

// addSteps parses a FeatureList message; a value in two parts is one list.
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
