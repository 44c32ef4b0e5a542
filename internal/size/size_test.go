package size

import "testing"

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1<<20 - 1: "1.0 MiB", 128 << 20: "128.0 MiB", 1<<63 - 1: "8.0 EiB"} {
		if got := Format(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
