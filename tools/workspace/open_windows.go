package workspace

import "os"

// openBeneath opens a resolved name below a root, out of which no link leads.
func openBeneath(one *root, rel string) (*os.File, error) { return one.held.Open(rel) }

// openTarget opens a resolved path outside the roots.
func openTarget(target string) (*os.File, error) { return os.Open(target) }
