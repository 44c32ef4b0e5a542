package features

import (
	"encoding/json"
	"fmt"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// storedScan is the serialized form of a Scan, for another process to merge.
type storedScan struct {
	Records  int64         `json:"records"`
	Others   int64         `json:"others,omitempty"`
	Tally    message.Tally `json:"tally"`
	Features []storedSeen  `json:"features"` // by key
}

// storedSeen is the serialized form of a seenFeature.
type storedSeen struct {
	Key     setdir.InputKey `json:"key"`
	Records int64           `json:"records"`
	Kinds   []int           `json:"kinds"`
	Values  *storedRange    `json:"values,omitempty"`
	NotText bool            `json:"not_text,omitempty"`
	Formats []int           `json:"formats,omitempty"`
}

// storedRange is the minimum and maximum of some numbers.
type storedRange struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// MarshalJSON implements json.Marshaler.
func (s *Scan) MarshalJSON() ([]byte, error) {
	stored := storedScan{Records: s.records, Others: s.others, Tally: s.tally, Features: []storedSeen{}}
	for key, f := range s.table.All() {
		seen := storedSeen{
			Key: setdir.InputKey(key), Records: f.records, Kinds: numbersOf(f.kinds[:]),
			NotText: f.notText, Formats: numbersOf(f.formats[:]),
		}
		if f.values.Any {
			seen.Values = &storedRange{f.values.Min, f.values.Max}
		}
		stored.Features = append(stored.Features, seen)
	}
	return json.Marshal(&stored) // the pointer makes Tally addressable, for its MarshalJSON
}

// UnmarshalJSON implements json.Unmarshaler. The resulting scan can only be merged and described;
// it cannot scan more records.
func (s *Scan) UnmarshalJSON(data []byte) error {
	var stored storedScan
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	*s = *NewScan()
	s.records, s.others, s.tally = stored.Records, stored.Others, stored.Tally
	for _, seen := range stored.Features {
		f := seenFeature{key: string(seen.Key), records: seen.Records, notText: seen.NotText}
		if seen.Values != nil {
			f.values = recordscan.Span{Min: seen.Values.Min, Max: seen.Values.Max, Any: true}
		}
		if err := setNumbers(f.kinds[:], seen.Kinds); err != nil {
			return err
		}
		if err := setNumbers(f.formats[:], seen.Formats); err != nil {
			return err
		}
		s.table.Add(f.key, f)
	}
	return nil
}

// numbersOf returns the indexes of the marks that are set.
func numbersOf(marks []bool) []int {
	var set []int
	for i, on := range marks {
		if on {
			set = append(set, i)
		}
	}
	return set
}

func setNumbers(marks []bool, set []int) error {
	for _, i := range set {
		if i < 0 || i >= len(marks) {
			return fmt.Errorf("%d: there are %d", i, len(marks))
		}
		marks[i] = true
	}
	return nil
}
