package main

import "math"

// model is a softmax regression: a weight for each sample of an image and each
// class, and a bias for each class.
type model struct {
	Inputs, Classes int
	Weights         []float64 // class by class
	Biases          []float64

	gradient []float64 // of Weights, for a batch
	odds     []float64 // of each class, for an image
}

func newModel(inputs, classes int) *model {
	return &model{
		Inputs: inputs, Classes: classes,
		Weights: make([]float64, inputs*classes), Biases: make([]float64, classes),
	}
}

// step learns from a batch: images one after another, and their labels. It
// returns the loss of each, before it was learned from: the surprise at its label,
// -log of the probability that the model gave it.
func (m *model) step(pixels []float32, labels []int64, rate float64) (losses []float64) {
	if m.gradient == nil {
		m.gradient = make([]float64, len(m.Weights))
	}
	clear(m.gradient)
	shift := make([]float64, m.Classes)
	for i, label := range labels {
		image := pixels[i*m.Inputs:][:m.Inputs]
		odds := m.classify(image)
		losses = append(losses, -math.Log(max(odds[label], 1e-12)))
		// The gradient of the loss by a class's output is the probability of the class, less 1 for
		// the label.
		for c, p := range odds {
			if int64(c) == label {
				p--
			}
			shift[c] += p
			row := m.gradient[c*m.Inputs:][:m.Inputs]
			for k, x := range image {
				row[k] += p * float64(x)
			}
		}
	}
	rate /= float64(len(labels))
	for k, g := range m.gradient {
		m.Weights[k] -= rate * g
	}
	for c, g := range shift {
		m.Biases[c] -= rate * g
	}
	return losses
}

// classify returns the probability of each class, until the next call.
func (m *model) classify(image []float32) []float64 {
	m.odds = append(m.odds[:0], m.Biases...)
	most := math.Inf(-1)
	for c := range m.odds {
		for k, w := range m.Weights[c*m.Inputs:][:m.Inputs] {
			m.odds[c] += w * float64(image[k])
		}
		most = max(most, m.odds[c])
	}
	sum := 0.0
	for c, x := range m.odds {
		m.odds[c] = math.Exp(x - most) // no overflow
		sum += m.odds[c]
	}
	for c := range m.odds {
		m.odds[c] /= sum
	}
	return m.odds
}
