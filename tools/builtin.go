package tools

// Builtin is every tool of the program itself, in the order of their ids. A
// session takes those away that it cannot serve.
func Builtin() []Tool {
	return []Tool{
		ApplyPatch(),
		Bash(),
		Edit(),
		Glob(),
		Grep(),
		LanguageServers(), // lsp
		PlanExit(),
		AskUser(), // question
		Read(),
		RepoOverview(),
		LoadSkill(), // skill
		Task(),
		TaskOutput(),
		TaskStop(),
		Todo(),
		ToolSearch(),
		WebFetch(),
		WebSearch(),
		Write(),
	}
}
