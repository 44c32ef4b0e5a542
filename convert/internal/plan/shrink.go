package plan

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// plannedSamples returns how many samples the shards have.
func (r *target) plannedSamples() (n int64) {
	for _, j := range r.shards {
		n += j.Samples
	}
	return n
}

// refuseUnexpected returns an error if the number of planned samples is outside of Options.Expect.
func (r *run) refuseUnexpected() error {
	planned := r.plannedSamples()
	if e := r.Expect; e != (Expected{}) && (planned < e.Min || planned > e.Max) {
		return fmt.Errorf("the input gives %s, and %s is %v: nothing was written", plural.Of(planned, "sample"), optname.OptionsExpect, e)
	}
	return nil
}

// refuseShrink returns an error if the set that an earlier run left has more than twice the samples
// that are planned now, with the same options: if a store is listed through a broken proxy, or a
// disk is not mounted, the set must not shrink as well.
func (r *run) refuseShrink(before *Previous) error {
	if before == nil || r.AllowShrink || r.difference(before) != "" {
		return nil
	}
	planned := r.plannedSamples()
	if planned >= before.samples-planned {
		return nil
	}
	return fmt.Errorf("%s has %s, and the input now gives only %d: an update would remove more than half of them; see whether all of the input is there, and give %s if it is",
		r.dir.Path(), plural.Of(before.samples, "sample"), planned, optname.OptionsAllowShrink)
}
