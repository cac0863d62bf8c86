#!/usr/bin/env bash
# testdata/bench/search.sh [ROUNDS]: how fast grep and glob are, as a table. Each
# row is a whole call in a process against a whole process of rg or fd, in turn,
# medians of ROUNDS (15) each; and how time and memory grow with the tree. Needs
# Go with its sources, ripgrep, and fd (Debian: fd-find); what is missing is left
# out. Where hyperfine is installed, it times rg and fd once more.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-15}

go test ./tools -run='^$' -bench='Against|SearchGrowth' -benchtime="${rounds}x" -timeout 60m | awk '
  /^Benchmark/ {
    name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
    for (i = 3; i < NF; i += 2) value[$(i+1)] = $i
    if (name ~ /Against/) {
      if (!head++) printf "%-52s %9s %9s %7s %7s\n", "call", "ours ms", "theirs ms", "wall", "cpu"
      printf "%-52s %9.1f %9.1f %7.2f %7.2f\n", name, value["ours-ms"], value["theirs-ms"], value["wall"], value["cpu"]
    } else {
      if (!growth++) printf "\n%-52s %9s %9s %7s\n", "call/files", "ours ms", "us a file", "peak MB"
      printf "%-52s %9.1f %9.2f %7.1f\n", name, value["ours-ms"], value["µs/file"], value["peak-MB"]
    }
    next
  }
  /FAIL|panic|SKIP/ { print }'

command -v hyperfine >/dev/null || exit 0
sources=$(go env GOROOT)/src
commands=()
command -v rg >/dev/null && commands+=("rg --no-config --hidden --count ErrUnexpectedEOF $sources" "rg --no-config --hidden --count '[A-Z]+_[A-Z]+_[A-Z]+' $sources")
fd=$(command -v fdfind || command -v fd || true)
[ -z "$fd" ] || commands+=("$fd --hidden --type f --glob '*_test.go' $sources")
[ ${#commands[@]} -gt 0 ] || exit 0
table=$(mktemp)
trap 'rm -f "$table"' EXIT
hyperfine -N --warmup 2 --runs "$rounds" --style none --export-markdown "$table" "${commands[@]}" >/dev/null 2>&1
echo
cat "$table"
