package naming

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

// TestSplitIn puts words of splits into random names: between separators, and in any case.
func TestSplitIn(t *testing.T) {
	words := []string{"train", "training", "val", "valid", "validation", "dev", "test", "testing", "eval", "evaluation"}
	others := []string{"data", "my", "v1", "2017", "trainval", "contest", "tests", "of", "tfrecord", "tar"}
	separators := []string{".", "-", "_", " ", "0", "-00001-"}
	for range 2000 {
		var parts []string
		last, means := "", map[string]bool{}
		for range 1 + rand.IntN(5) {
			if rand.IntN(3) > 0 {
				parts = append(parts, others[rand.IntN(len(others))])
				continue
			}
			last = words[rand.IntN(len(words))]
			means[KnownSplit(last)] = true
			parts = append(parts, []string{last, strings.ToUpper(last), strings.ToUpper(last[:1]) + last[1:]}[rand.IntN(3)])
		}
		name := parts[0]
		for _, part := range parts[1:] {
			name += separators[rand.IntN(len(separators))] + part
		}
		want := last
		if len(means) > 1 {
			want = ""
		}
		if got := SplitIn(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for _, word := range words {
		if !slices.Contains([]string{"train", "val", "test"}, KnownSplit(word)) {
			t.Errorf("%s means %q", word, KnownSplit(word))
		}
	}
}
