package editors

// jetbrains are the IDEs of JetBrains, which share one file. An entry of theirs
// has no type.
func jetbrains() Editor {
	return Editor{
		ID:      "jetbrains",
		Name:    "JetBrains IDEs",
		Aliases: []string{"idea", "intellij", "goland", "pycharm", "webstorm", "phpstorm", "rubymine", "rustrover", "clion", "rider", "datagrip"},
		next:    "restart the IDE and choose acp-agent in the AI chat. `Get ACP Logs` shows what is said between them. Keep the file private (mode 0600): it may hold other agents' keys",
		entry:   func(exe string) any { return agentServers(launch{Command: exe}) },
		paths:   func(env Env) []string { return []string{env.home(".jetbrains", "acp.json")} },
		signs: func(env Env) []string {
			signs := []string{env.home(".jetbrains")}
			switch env.OS {
			case "windows":
				return append(signs, env.appData("JetBrains"))
			case "darwin":
				return append(signs, env.home("Library", "Application Support", "JetBrains"))
			}
			return append(signs, env.config("JetBrains"))
		},
	}
}
