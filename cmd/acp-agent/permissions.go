package main

// permissionsCommand is what looks at and changes permission rules.
type permissionsCommand struct {
	List   listRulesCommand  `cmd:"" default:"withargs" help:"List the rules that hold in this folder, with where each stands."`
	Add    addRuleCommand    `cmd:"" help:"Add a rule to your settings, or to what you granted in this project."`
	Remove removeRuleCommand `cmd:"" help:"Remove a rule from your settings or from what you granted in this project."`
	Test   testRulesCommand  `cmd:"" help:"Judge files of cases: what each may do, and whether that is what you want."`
}
