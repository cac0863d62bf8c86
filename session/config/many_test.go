package config

import (
	"fmt"
	"sync"
	"testing"

	"github.com/acp-agent/acp-agent/session/permission"
)

// TestManyRulesAtOnce: none of those that are added at once is lost, and the files
// stay whole.
func TestManyRulesAtOnce(t *testing.T) {
	paths, project := home(t)
	write(t, paths.UserFile(), "{\n  // mine\n  \"mode\": \"plan\",\n}\n")
	root, err := Root(project)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		r := permission.Rule{Permission: "bash", Pattern: fmt.Sprintf("x%d *", i), Action: permission.Deny}
		wg.Go(func() {
			if _, err := paths.AddRule(r); err != nil {
				t.Error(err)
			}
			if err := paths.AddGrants(root, []permission.Rule{r}); err != nil {
				t.Error(err)
			}
			if _, problems := Load(LoadOptions{Paths: paths}); len(problems) > 0 {
				t.Error(problems)
			}
		})
	}
	wg.Wait()
	c, problems := Load(LoadOptions{Paths: paths})
	granted, err := paths.Grants(root)
	if len(c.Rules) != 20 || len(granted) != 20 || len(problems) > 0 || err != nil || c.Mode != permission.Plan {
		t.Errorf("%d rules, %d grants, %v, %v", len(c.Rules), len(granted), problems, err)
	}
}
