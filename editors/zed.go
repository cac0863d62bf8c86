package editors

// zed is the Zed editor. Its setting is a tagged union: without the type an
// entry is not loaded.
func zed() Editor {
	return Editor{
		ID:       "zed",
		Name:     "Zed",
		comments: true,
		next:     "open the agent panel in Zed and begin a thread with acp-agent. The command `dev: open acp logs` shows what is said between them",
		entry:    func(exe string) any { return agentServers(launch{Type: "custom", Command: exe}) },
		paths:    func(env Env) []string { return zedFiles(env, "settings.json") },
		signs: func(env Env) []string {
			signs := zedFiles(env)
			switch env.OS {
			case "darwin":
				signs = append(signs, "/Applications/Zed.app", env.home("Applications", "Zed.app"))
			case "windows":
				signs = append(signs, env.below(env.Getenv("LOCALAPPDATA"), "Programs", "Zed"))
			}
			return signs
		},
	}
}

// zedFiles lists where the name may be in Zed's folder of configuration.
func zedFiles(env Env, name ...string) []string {
	switch env.OS {
	case "windows":
		return []string{env.appData(append([]string{"Zed"}, name...)...)}
	case "darwin":
		return []string{env.home(append([]string{".config", "zed"}, name...)...)}
	}
	inZed := append([]string{"zed"}, name...)
	return []string{
		env.below(env.Getenv("FLATPAK_XDG_CONFIG_HOME"), inZed...), // within Flatpak
		env.config(inZed...),
		env.home(append([]string{".var", "app", "dev.zed.Zed", "config"}, inZed...)...), // Flatpak, from outside
	}
}
