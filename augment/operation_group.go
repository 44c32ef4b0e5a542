package augment

import "fmt"

// groupOperations are the operations that hold others.
func groupOperations() []*definition {
	const kind = "group"
	return []*definition{
		{
			name: "one_of", kind: kind, group: true, torchvision: "RandomChoice",
			about:      "apply one of the operations, all equally likely",
			parameters: []parameter{chance("1")},
			sampler: func(_ settings, operations []*operation) sampler {
				return func(d *drawing) { operations[d.random.below(len(operations))].draw(d) }
			},
		},
		{
			name: "some_of", kind: kind, group: true,
			about: "apply n different ones of the operations, in the order given",
			parameters: []parameter{
				{name: "n", kind: kindSpan, max: maxOperations, integer: true, about: "how many"},
				chance("1"),
			},
			check: func(s settings, operations int) (string, string) {
				if int(s.span("n").hi) > operations {
					return "n", fmt.Sprintf("want no more than the %d that are in the group", operations)
				}
				return "", ""
			},
			sampler: someOf,
		},
		{
			name: "sequence", kind: kind, group: true, torchvision: "RandomApply",
			about:      "apply all of the operations, or none",
			parameters: []parameter{chance("1")},
			sampler: func(_ settings, operations []*operation) sampler {
				return func(d *drawing) { drawAll(operations, d) }
			},
		},
	}
}

func someOf(s settings, operations []*operation) sampler {
	return func(d *drawing) {
		missing := d.whole(s.span("n"))
		for i, o := range operations {
			if d.random.below(len(operations)-i) < missing {
				missing--
				o.draw(d)
			}
		}
	}
}
