package naming

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestShard(t *testing.T) {
	numbers := []int{0, 1, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 99_999, 100_000, 1 << 40}
	for range 100 {
		numbers = append(numbers, rand.IntN(1<<rand.IntN(40)))
	}
	for i, n := range numbers {
		count := numbers[(i*7+3)%len(numbers)]
		want := fmt.Sprintf("%s-%s.tfrecord-%05d-of-%05d", "photos", "train", n, count)
		if got := Shard("photos", "train", n, count); got != want {
			t.Errorf("%d of %d: %s, want %s", n, count, got, want)
		}
	}
}

func TestSnakeCase(t *testing.T) {
	for in, want := range map[string]string{
		"photos": "photos", "My Photos": "my_photos", "flowerPhotos-2": "flower_photos_2", "ImageNet": "image_net",
		"2024": "data_2024", "__x__": "x", "": "dataset", "日本": "dataset", "a日b": "a_b", "ABC": "abc",
	} {
		if got := SnakeCase(in); got != want {
			t.Errorf("SnakeCase(%q) = %q, want %q", in, got, want)
		}
	}
}
