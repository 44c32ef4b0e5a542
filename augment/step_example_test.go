package augment_test

import (
	"encoding/json"
	"fmt"

	"github.com/tfrec/tfrec/augment"
)

// A step goes through JSON unharmed, so that what was done to a picture can be
// done again.
func ExampleUnmarshalStep() {
	data, err := json.Marshal(augment.Rotate{Angle: 90, Expand: true, Filter: augment.Nearest})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))

	step, err := augment.UnmarshalStep(data)
	if err != nil {
		panic(err)
	}
	src := augment.Image{Pix: []uint8{10, 20, 30}, Width: 3, Height: 1, Channels: 1, Stride: 3}
	var dst augment.Image
	if err := step.Apply(&dst, &src, nil); err != nil {
		panic(err)
	}
	fmt.Println(dst.Width, dst.Height, dst.Pix)
	// Output:
	// {"op":"rotate","angle":90,"expand":true,"filter":"nearest"}
	// 1 3 [30 20 10]
}
