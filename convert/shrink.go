package convert

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
)

// refuseShrink returns an error if the set that an earlier run left has more than twice the samples
// that are planned now, with the same options: whoever lists a store through a broken proxy, or a
// disk that is not mounted, does not want the set to follow.
func (r *run) refuseShrink(before *previous) error {
	if before == nil || r.AllowShrink || r.difference(before) != "" {
		return nil
	}
	planned := int64(0)
	for _, j := range r.jobs {
		planned += j.samples
	}
	if planned >= before.samples-planned {
		return nil
	}
	return fmt.Errorf("%s has %s, and the input now gives only %d: an update would remove more than half of them; see whether all of the input is there, and give Options.AllowShrink if it is",
		r.dir.Path(), plural.Of(before.samples, "sample"), planned)
}
