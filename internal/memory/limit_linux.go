package memory

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
)

// ofMachine returns how much memory the machine has, or the control group of this
// process may use, in bytes; 0 when neither is known.
func ofMachine() int64 {
	least := int64(0)
	see := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		if line, _, ok := bytes.Cut(data, []byte("kB\n")); ok {
			if _, kib, ok := strings.Cut(string(line), "MemTotal:"); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(kib), 10, 64)
				see(n << 10)
			}
		}
	}
	data, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(data)) {
		// "0::/path" of version 2; "9:memory:/path" of version 1.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if fields[1] == "memory" {
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if fields[0] != "0" {
			continue
		}
		// A group is subject to the limits of its ancestors. In a container the path may be the
		// host's, and the group itself at the root.
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			if text, err := os.ReadFile(root + dir + "/" + file); err == nil {
				n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is not a number
				see(n)
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}
