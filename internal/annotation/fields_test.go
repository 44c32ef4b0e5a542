package annotation

import (
	"fmt"
	"testing"
)

func TestFieldsAreBounded(t *testing.T) {
	f := Fields{}
	for i := range 3 * maxFields {
		f.Add([]byte(fmt.Sprint(i)), []byte("1"))
		f.Add([]byte("0"), []byte(" {} "))
	}
	if len(f) != maxFields+1 || f["..."] != 2*maxFields || f["0"] != 1 {
		t.Errorf("%d names, %d others", len(f), f["..."])
	}
	all := Fields{"0": 2, "x": 1}
	all.Merge(f)
	if all["0"] != 3 || all["x"] != 1 || all["1"] != 1 {
		t.Errorf("%v", all)
	}
}
