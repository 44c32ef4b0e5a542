package convert

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/labels"
)

// orderLabels returns the unique label names in id order, and notes where ids differ from what the
// names suggest. Ids begin at offset, which the given option sets.
func (o *Options) orderLabels(names []string, offset int, option string) []string {
	names = labels.Sort(names)
	if note := labels.Note(names, offset, option); note != "" {
		o.note("%s", note)
	}
	return names
}

// noteNewIDs notes which labels of the existing set get another id. Shards with such labels have
// another fingerprint, and are made again.
func (o *Options) noteNewIDs(before *previous, names []string) {
	if before == nil || before.manifest == nil {
		return
	}
	ids := make(map[string]int, len(names))
	for id, name := range names {
		ids[jsontext.Readable(name)] = id
	}
	var changed []string
	for was, name := range before.manifest.Labels {
		if id, ok := ids[name]; ok && id != was && name != "" {
			changed = append(changed, fmt.Sprintf("%q was %d and is %d", name, was, id))
		}
	}
	if len(changed) == 0 {
		return
	}
	const shown = 5
	if more := len(changed) - shown; more > 0 {
		changed = append(changed[:shown:shown], fmt.Sprintf("%d more", more))
	}
	o.note("label ids change: %s; shards with such labels are written again", strings.Join(changed, ", "))
}

// labelNames puts background names before the labels.
func labelNames(names []string, offset int) []string {
	if len(names) == 0 {
		return nil
	}
	all := make([]string, 0, offset+len(names))
	for i := range offset {
		all = append(all, backgroundName(i))
	}
	return append(all, names...)
}

func backgroundName(i int) string { return "background_" + strconv.Itoa(i) }
