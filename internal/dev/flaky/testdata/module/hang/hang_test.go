package hang

import "testing"

func TestHang(t *testing.T) {
	t.Run("on", func(t *testing.T) { select {} })
}
