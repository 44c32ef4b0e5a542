package topic

import (
	"embed"
	"strings"
)

// Topic is an explanation.
type Topic struct {
	Name  string
	Short string // in a few words
	Text  string
}

//go:embed text
var texts embed.FS

// Names returns the names of all topics, in the order in which a reader needs them.
func Names() []string {
	return []string{"sources", "labels", "splits", "annotations", "augment", "stores", "training", "formats"}
}

// All returns all topics in the order of Names.
func All() (topics []Topic) {
	for _, name := range Names() {
		data, err := texts.ReadFile("text/" + name + ".txt")
		if err != nil {
			panic(err) // a mistake in this program
		}
		short, text, _ := strings.Cut(string(data), "\n")
		topics = append(topics, Topic{Name: name, Short: short, Text: strings.TrimLeft(text, "\n")})
	}
	return topics
}

// Find returns the topic of a name.
func Find(name string) (Topic, bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}
