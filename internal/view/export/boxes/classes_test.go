package boxes

import (
	"fmt"
	"strings"
	"testing"
)

func TestClassesWithoutIDs(t *testing.T) {
	c := newClasses()
	for _, err := range []error{
		c.learn(2, "b"), c.learn(2, ""), c.learn(5, ""), c.learnName("z"), c.learnName("b"), c.learnName("a"), c.learnName("y"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.number()
	got := fmt.Sprint(c.list)
	if want := "[{2 b} {5 5} {1 a} {3 y} {4 z}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for want, err := range map[string]error{
		`class 2 is "c" here and "b" before`: c.learn(2, "c"), "not UTF-8": c.learn(9, "\xff"), "a class is not UTF-8": c.learnName("\xff"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
