package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// checkLabel checks that the label of the last record has a name.
func (c *fileCheck) checkLabel(r *tfrecord.Reader, id int64) {
	if id < int64(len(c.names())) {
		return
	}
	c.add(shard.Fault{
		Path: c.source.Path, Record: r.Record(), Offset: r.Offset(), Part: tfrecord.PartParse,
		Message: fmt.Sprintf("feature %q is %d, but there are %d label names", c.labels.Key, id, len(c.names())),
	})
}

func (c *fileCheck) names() []string {
	if c.source.Set == nil {
		return nil
	}
	return c.source.Set.Labels
}

// checkLabels compares the number of records per label with the manifest.
func (c *fileCheck) checkLabels() {
	want := c.source.Info.Labels
	if c.labels.ByID == nil || want == nil {
		return
	}
	if c.labels.Over {
		c.add(shard.FileFault(c.source.Path, tfrecord.PartCount, "more than %d different labels, the manifest names %d", c.labels.Most, len(c.names())))
		return
	}
	got := labels.CountsByName(c.labels.ByID, c.names())
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if n := want[name]; n != got[name] {
			c.add(shard.FileFault(c.source.Path, tfrecord.PartCount, "%s with the label %q, the manifest says %d", plural.Of(got[name], "record"), name, n))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, any := got[name]; !any && want[name] != 0 {
			c.add(shard.FileFault(c.source.Path, tfrecord.PartCount, "no records with the label %q, the manifest says %d", name, want[name]))
		}
	}
}
