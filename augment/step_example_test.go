package augment_test

import (
	"encoding/json"
	"fmt"

	"github.com/tfrec/tfrec/augment"
)

// A draw survives JSON, so that what was done to an image can be repeated.
func ExampleDraw() {
	data, err := json.Marshal(augment.Draw{Steps: []augment.Step{augment.Rotate{Angle: 90, Expand: true, Filter: augment.Nearest}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))

	var draw augment.Draw
	if err := json.Unmarshal(data, &draw); err != nil {
		panic(err)
	}
	src := augment.Image{Pix: []uint8{10, 20, 30}, Width: 3, Height: 1, Channels: 1, Stride: 3}
	var dst augment.Image
	if err := draw.Apply(&dst, &src, nil); err != nil {
		panic(err)
	}
	fmt.Println(dst.Width, dst.Height, dst.Pix)
	// Output:
	// [{"op":"rotate","angle":90,"expand":true,"filter":"nearest"}]
	// 1 3 [30 20 10]
}
