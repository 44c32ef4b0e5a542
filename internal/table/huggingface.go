package table

import "encoding/json"

// HuggingFaceKey is the key of the metadata of a file in which package datasets of Hugging Face
// describes the columns.
const HuggingFaceKey = "huggingface"

// HuggingFaceClasses returns the names of classes from the value of [HuggingFaceKey]: of each column
// of type ClassLabel, the name for each number from 0. It returns nil for what it does not
// understand, since the numbers are labels without names, too.
func HuggingFaceClasses(value []byte) map[string][]string {
	var described struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if json.Unmarshal(value, &described) != nil {
		return nil
	}
	var classes map[string][]string
	for column, feature := range described.Info.Features {
		var label struct {
			Type  string   `json:"_type"`
			Names []string `json:"names"`
		}
		if json.Unmarshal(feature, &label) != nil || label.Type != "ClassLabel" || len(label.Names) == 0 {
			continue
		}
		if classes == nil {
			classes = map[string][]string{}
		}
		classes[column] = label.Names
	}
	return classes
}
