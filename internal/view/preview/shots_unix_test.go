//go:build unix

package preview

import (
	"flag"
	"path/filepath"
	"testing"
)

var (
	shotsOf = flag.String("page", "", "take screenshots of this page")
	shotsTo = flag.String("shots", "", "and put them into this folder")
)

// TestScreenshots takes screenshots of a page: the one in docs is desktop.png of the photographs of
// testdata/demo.
func TestScreenshots(t *testing.T) {
	if *shotsOf == "" {
		t.Skip("no -page")
	}
	c := startChromium(t)
	for _, s := range []struct {
		name, scheme  string
		width, height int
	}{{"desktop", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"phone", "light", 390, 844}, {"long", "light", 1280, 3600}, {"phone-dark-long", "dark", 390, 3000}} {
		c.open(*shotsOf, s.width, s.height, s.scheme)
		c.shoot(filepath.Join(*shotsTo, s.name+".png"))
		if s.height < 1000 {
			c.eval("document.querySelector('.open')?.click()", nil)
			c.shoot(filepath.Join(*shotsTo, s.name+"-dialog.png"))
		}
	}
}
