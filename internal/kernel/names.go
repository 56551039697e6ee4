package kernel

// Names returns the names of the sets of loops that this CPU runs, fastest first. Name is the first of them.
func Names() (names []string) {
	for _, set := range available() {
		names = append(names, set.name)
	}
	return names
}
