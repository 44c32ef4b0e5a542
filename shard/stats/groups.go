package stats

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/tfrecord"
)

// groupValue is a value by which records are grouped.
type groupValue struct {
	kind  tfrecord.Kind
	id    int64   // of an int64
	share float32 // of a float
	text  string  // of bytes
}

// String returns the value for display.
func (v groupValue) String() string {
	switch v.kind {
	case tfrecord.KindInt64:
		return strconv.FormatInt(v.id, 10)
	case tfrecord.KindFloat:
		return strconv.FormatFloat(float64(v.share), 'g', -1, 32)
	}
	return jsontext.Readable(v.text)
}

// group returns the figures of the group of the listed record; nil if there is none.
func (s *fileStats) group() *figures {
	if s.m.o.By == "" {
		return nil
	}
	for i := range s.list {
		c := &s.list[i]
		if string(c.key) != s.m.o.By {
			continue
		}
		id, number, text, ok := c.one()
		if !ok || len(text) > maxTopText || c.kind == tfrecord.KindFloat && math.IsNaN(float64(number)) {
			break
		}
		if g := s.groupOf(groupValue{c.kind, id, number, string(text)}); g != nil {
			return g
		}
		break
	}
	s.ungrouped++
	return nil
}

// groupOf returns the figures of a group, creating it unless there are too many.
func (s *fileStats) groupOf(v groupValue) *figures {
	g := s.groups[v]
	if g == nil && len(s.groups) < s.m.o.MaxGroups {
		g = s.m.newFigures(&s.room[1])
		g.name = fmt.Sprintf("%d:%v", v.kind, v)
		if s.groups == nil {
			s.groups = make(map[groupValue]*figures)
		}
		s.groups[v] = g
		s.order = append(s.order, v)
	}
	return g
}

func (s *fileStats) mergeGroups(t *fileStats) {
	s.ungrouped += t.ungrouped
	for _, v := range t.order {
		if g := s.groupOf(v); g != nil {
			g.merge(t.groups[v])
		} else {
			s.ungrouped += t.groups[v].base.sum.Records
			for _, f := range t.groups[v].features.All() {
				f.omit()
			}
			for _, f := range t.groups[v].lists.All() {
				f.omit()
			}
		}
	}
}

func (s *fileStats) groupStats(ctx context.Context) []Group {
	order := slices.Clone(s.order)
	slices.SortFunc(order, func(a, b groupValue) int {
		return cmp.Or(-cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id), cmp.Compare(a.share, b.share), cmp.Compare(a.text, b.text))
	})
	var list []Group
	for _, v := range order {
		group := Group{Value: v.String(), Figures: s.groups[v].figures(ctx, s.m.o)}
		if v.kind == tfrecord.KindInt64 {
			group.Name = s.groupName(ctx, v.id)
		}
		list = append(list, group)
	}
	return list
}

// groupName returns the name of a label.
func (s *fileStats) groupName(ctx context.Context, id int64) string {
	if !s.m.names.isLabel(s.m.o.By) {
		return ""
	}
	if name := s.m.names.name(ctx, s.m.o.By, id); name != "" {
		return jsontext.Readable(name)
	}
	if labels := s.all.base.labels[s.m.o.By]; labels != nil {
		return jsontext.Readable(labels.said[id])
	}
	return ""
}
