package planetoid

// classNames returns the class names of a published graph, given its name and its number of classes, or nil for any
// other graph. Planetoid's files number the classes without naming them. The order follows from the class sizes: class
// c of the files has as many nodes as the published class of that name (Sen et al. 2008; Namata et al. 2012). Within a
// graph, all sizes differ.
//
//	cora      351, 217, 418, 818, 426, 298, 180
//	citeseer  249, 590, 668, 701, 596, 508
//	pubmed    4103, 7739, 7875
func classNames(name string, classes int) []string {
	names := map[string][]string{
		"cora": {"Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods",
			"Case_Based", "Rule_Learning"},
		"citeseer": {"AI", "ML", "IR", "DB", "Agents", "HCI"},
		"pubmed":   {"Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 2", "Diabetes Mellitus Type 1"},
	}[name]
	if len(names) != classes {
		return nil
	}
	return names
}
