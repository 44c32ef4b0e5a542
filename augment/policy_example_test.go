package augment_test

import (
	"encoding/json"
	"fmt"

	"github.com/tfrec/tfrec/augment"
)

func ExamplePolicy() {
	policy, err := augment.ParsePolicy("random_resized_crop:224,scale=0.3-1 | hflip | one_of(posterize:4,1|solarize:128,1)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy)
	for n := range 3 {
		draw := policy.Draw(42, "daisy/1.jpg", n+1, 500, 375)
		ops, err := json.Marshal(draw)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", ops)
	}
	// Output: random_resized_crop:224,0.3..1|hflip|one_of(posterize:4,1|solarize:128,1)
	// [{"op":"resized_crop","x":28,"y":3,"w":396,"h":369,"width":224,"height":224,"filter":"bilinear","antialias":true},{"op":"posterize","bits":4}]
	// [{"op":"resized_crop","x":60,"y":7,"w":264,"h":347,"width":224,"height":224,"filter":"bilinear","antialias":true},{"op":"solarize","threshold":128}]
	// [{"op":"resized_crop","x":80,"y":7,"w":409,"h":367,"width":224,"height":224,"filter":"bilinear","antialias":true},{"op":"hflip"},{"op":"solarize","threshold":128}]
}

func ExampleParsePolicy_error() {
	_, err := augment.ParsePolicy("vflip|hflp:0.5")
	fmt.Println(err)
	// Output:
	// augment: "hflp" at character 7: unknown operation; did you mean hflip?
}
