package claim

// Within tells claims apart by how much of them a want means: whole ones lie
// within it, of the others it means only a part. Claims that it does not touch
// are in neither list. The want's mode does not matter.
func Within(w *Want, list []Claim) (whole, part []Claim) {
	named := *w
	named.Mode = Exclusive
	for i := range list {
		c := list[i].Want
		if c.Fold || named.Fold {
			c.Paths, named.Paths = folded(c.Paths), folded(named.Paths)
		}
		switch {
		case covers(&named, &c):
			whole = append(whole, list[i])
		case len(Overlapping(&named, &c, true)) > 0:
			part = append(part, list[i])
		}
	}
	return whole, part
}

func folded(list []Pattern) []Pattern {
	out := make([]Pattern, len(list))
	for i, p := range list {
		out[i] = p.Fold()
	}
	return out
}
