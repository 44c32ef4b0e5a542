package operation

import "fmt"

// groupOperations are the operations that hold others.
func groupOperations() []*Definition {
	const kind = "group"
	return []*Definition{
		{
			Name: "one_of", kind: kind, Group: true, torchvision: "RandomChoice",
			about:      "apply one of the operations, all equally likely",
			Parameters: []Parameter{chance("1")},
			Sampler: func(_ Settings, operations []*Operation) sampler {
				return func(d *Drawing) { operations[d.random.below(len(operations))].Draw(d) }
			},
		},
		{
			Name: "some_of", kind: kind, Group: true,
			about: "apply n different ones of the operations, in the order given",
			Parameters: []Parameter{
				{Name: "n", kind: kindSpan, max: MaxOperations, integer: true, about: "how many"},
				chance("1"),
			},
			Check: func(s Settings, operations int) (string, string) {
				if int(s.span("n").hi) > operations {
					return "n", fmt.Sprintf("want no more than the %d that are in the group", operations)
				}
				return "", ""
			},
			Sampler: someOf,
		},
		{
			Name: "sequence", kind: kind, Group: true, torchvision: "RandomApply",
			about:      "apply all of the operations, or none",
			Parameters: []Parameter{chance("1")},
			Sampler: func(_ Settings, operations []*Operation) sampler {
				return func(d *Drawing) { DrawAll(operations, d) }
			},
		},
	}
}

func someOf(s Settings, operations []*Operation) sampler {
	return func(d *Drawing) {
		missing := d.whole(s.span("n"))
		for i, o := range operations {
			if d.random.below(len(operations)-i) < missing {
				missing--
				o.Draw(d)
			}
		}
	}
}
