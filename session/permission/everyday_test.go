package permission

import "testing"

// What developers run all day and only reads is silent.
func TestEverydayIsSilent(t *testing.T) {
	p := project(t)
	for _, cmd := range []string{
		`ls`, `ls -la`, `ls -lah src`, `ls -1 src | wc -l`, `pwd`, `cat main.go`, `cat -n main.go | sed -n '1,40p'`, `head -50 main.go`, `tail -n +2 main.go`, `wc -l src/*.go`,
		`cat src/{a,b}.go`, `ls src/*.{go,x}`, `find . -name '*.go' -not -path './vendor/*'`, `find src -type f | head -20`, `find . -name '*_test.go' | xargs grep -n TODO`,
		`find . -maxdepth 2 -type d`, `find . -name '*.go' 2>/dev/null | xargs wc -l | sort -n | tail -5`, `fd -e go`, `fd -t f main src`, `rg --files src | xargs wc -l`, `git ls-files | xargs cat | wc -l`, `git ls-files '*.go' | xargs grep -c func`,
		`grep -rn "func " src`, `grep -rn --include='*.go' TODO src | head`, `grep -E 'a|b' main.go`, `grep -q x main.go && echo yes`, `rg -n TODO src`, `rg -g '*.go' -i foo src`,
		`sed -n '/func/,/^}/p' main.go`, `sed -e 's/a/b/' -e '/x/d' main.go`, `sed -n '$=' main.go`, `sed 's|a/b|c|g' main.go`, `sed -E 's/(a|b)/[\1]/' main.go`, `sed '1d;$d' main.go`, `sed '1i\header' main.go`, "sed '/x/a\\\nmore' main.go", `find . -newermt 2026-01-01 -name '*.go'`, `find . -cnewer go.mod`,
		`awk '{print $2}' docs/list.txt | sort | uniq -c | sort -rn`, `awk 'NR==1,NR==5' main.go`, `awk '/func/ {n++} END {print n}' main.go`, `awk -F, '$3 > 5 {print $1}' docs/list.txt`, `awk '{s+=$1} END {printf "%.2f\n", s/NR}' docs/list.txt`, `awk '$1 == "a" || $2 ~ /b|c/' docs/list.txt`, `awk 'length($0) > 80 {print FILENAME ":" FNR}' main.go`,
		`jq . package.json`, `jq -r '.scripts | keys[]' package.json`, `jq -r '.dependencies | to_entries[] | "\(.key)@\(.value)"' package.json`, `jq --arg n x '.[$n]' package.json`, `cat package.json | jq '.name'`,
		`git status`, `git status -sb`, `git diff`, `git diff --stat`, `git diff --cached`, `git diff HEAD~3..HEAD --name-only`, `git diff main...HEAD -- src`, `git log --oneline -10`, `git log --oneline --graph --all --decorate`, `git log -p -2 -- main.go`, `git log --author=x --since=yesterday`,
		`git show HEAD --stat`, `git show HEAD:main.go`, `git blame -L 1,5 main.go`, `git branch -a`, `git branch -vv`, `git remote -v`, `git stash list`, `git tag -l`, `git rev-parse HEAD`, `git rev-parse --show-toplevel`, `git -C src status`, `git ls-files | wc -l`, `git config --get user.email`, `git shortlog -sn`, `git grep -n main`, `git log -S foo --oneline`,
		`go version`, `go list ./...`, `go list -m all`, `go env GOPATH`, `go doc strings.Cut`, `gofmt -l .`, `node --version`, `npm -v`, `python3 --version`, `cargo --version`, `docker --version`, `rustc --version`,
		`which go`, `command -v node`, `type ls`, `echo $?`, `echo "$HOME"`, `cat "$PWD/main.go"`, `date`, `date +%s`, `date -u -d '1 day ago' +%F`, `uname -a`, `whoami`, `nproc`, `df -h .`, `du -sh src`, `free -h`, `ps aux | head`, `ps -ef | grep go`, `ps -o pid,cmd`,
		`for f in src/*.go; do echo "== $f"; head -3 "$f"; done`, `for i in 1 2 3; do echo $i; done`, `if [ -f go.mod ]; then echo go; elif [ -f package.json ]; then echo node; fi`, `[[ -f go.mod ]] && cat go.mod`, `[[ "$(uname)" == Linux ]] && echo yes`, `case "$(uname)" in Linux) echo l;; *) echo o;; esac`,
		`x=src; ls "$x"; wc -l $x/a.go`, `n=$(wc -l < main.go); echo "lines: $n"`, `branch=$(git branch --show-current); echo "on $branch"`, `[ "$(git rev-parse HEAD)" = abc ] || echo no`, `test -d src && ls src`, `[ -n "$CI" ] && echo ci`, `while read_only=1; [ a = b ]; do echo x; done`,
		`cd src && ls && cd ..`, `(cd src && git status -s)`, `cat <<'EOF'
text $(x)
EOF`, `diff src/a.go src/b.go`, `comm -12 docs/list.txt docs/list.txt`, `sort -t, -k2 -n docs/list.txt`, `cut -d: -f1 docs/list.txt`, `tr a-z A-Z < main.go`, `xxd main.go | head`, `od -c main.go`, `base64 main.go`, `md5sum main.go`, `stat -c %s main.go`, `file main.go`, `basename "$(pwd)"`, `realpath src`, `tar tf docs/a.tar`, `strings main.go | head`,
		`fd`, `fd --extension md --max-depth 2`, `fd --type f`, `for i in {1..3}; do echo "$i"; done`, `echo {0..12}`, `f=src/a.go; echo "${f##*/}" "${f%.go}" "${#f}"`, `n=$(ls); echo "${n%x}"`,
		`timeout 10 bash -c 'grep -c x main.go'`, `nice -n 5 sh -c 'ls -l src'`, `env LC_ALL=C bash -c 'ls && pwd'`, `CI=1 timeout 5 nice bash -lc 'git status'`, `command -v node && command -V go`,
		`sleep 1`, `true`, `timeout 5 cat main.go`, `time ls`, `nice -n 5 ls`, `LC_ALL=C sort docs/list.txt`, `set -euo pipefail; cat main.go | wc -l`, `ls nosuch 2>/dev/null || echo none`, `ls > /dev/null 2>&1; echo $?`, `printf '%s\n' "$(date)"`, `echo "$((1 + 2))"`, `seq 1 3 | paste -sd+`, `cat main.go | tac | rev`, `bash -c 'ls -la | head'`,
	} {
		if v := bash(p, cmd); v.Action != Allow {
			t.Errorf("%q: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
}

// The siblings of what is silent are not: another flag, wrapper or spelling that
// writes, runs or shows something.
func TestSiblingsAsk(t *testing.T) {
	p := project(t)
	for _, cmd := range []string{
		`find . -fprint x`, `find . -name x -exec cat {} +`, `find . -printf '../x\n' | xargs cat`, `find . -name '.env*' | xargs cat`, `find . -name '*.pem' | xargs cat`, `find . | xargs rm`, `find . | xargs -P4 cat`, `find . | xargs sh -c ls`, `echo ../x | xargs cat`, `cat docs/list.txt | xargs cat`, `find . | xargs grep -f ../x`, `find . | xargs cat < docs/list.txt`, `find . | (cat docs/list.txt | xargs cat)`, `find . | xargs -a docs/list.txt cat`, `git diff | xargs cat`, `grep -r x src | xargs cat`, `rg foo src | xargs cat`, `ls | xargs touch`,
		`awk 'BEGIN {system("x")}'`, `awk '{print > "out"}' main.go`, `awk '{print | "sh"}' main.go`, `awk '"x" | getline y'  main.go`, `awk 'BEGIN {while (("x") | getline) print}'`, `awk '{print ENVIRON["A"]}' main.go`, `awk -f x.awk main.go`, `awk -i inplace 1 main.go`, `awk '{print $1 / 2; print | "x" /**/}' main.go`, `awk '{ a / b; "x" | getline; c / d }' main.go`, `awk '{print >> "x"}' main.go`, `awk '@load "x"' main.go`, `awk 1 ../outside/x`, `awk 1 .env`, `awk "$x" main.go`, `awk '{printf "x" > ("o" "p")}' main.go`, `gawk -e 1 main.go`, `awk '{print} # "
system("x")' main.go`,
		`jq -n env`, `jq -n '$ENV.A'`, `jq -f x.jq package.json`, `jq 'import "a" as a; .' package.json`, `jq . .env`, `jq . ../x.json`, `jq --slurpfile a .env . package.json`, `jq -L x . package.json`, `jq '..env' package.json`, `jq '.a|env' package.json`,
		`sed -n 'w x' main.go`, `sed 's/a/b/w x' main.go`, `sed '1e' main.go`, `sed 's/x/y/e' main.go`, `sed -i s/a/b/ main.go`, `sed '/a/{p;w x
}' main.go`, `sed '1!w x' main.go`, `sed 's,a,b,;W x' main.go`, `sed 'y/a/b/;R x' main.go`, `sed 's/[/]/x/w o/' main.go`, `sed '1r .env' main.go`, `sed 'a\
x
w y' main.go`, `sed --in-place p main.go`, `sed p ../x`, `sed p .env`, "sed '1i\\x\nw y' main.go", "sed '1i\\x\\\nw y' main.go", "sed '1i\\\nx\\\ny\nw z' main.go", "sed 'a\\' -e 'w y' main.go", `find . -newermt 2026-01-01 -delete`, `find . -cnewer ../x`,
		`ps e`, `ps auxe`, `ps -E`, `ps -o env`, `date -s x`, `date 0101`, `xxd -r a b`, `xxd main.go out`, `fd -x rm`, `fd -l`, `fd . ../outside`, `base64 .env`, `strings .env`, `od ../x`, `unzip main.zip`, `unzip -l a b`, `tar xf a.tar`, `tar tf a.tar --to-command=x`,
		`for f in *; do rm "$f"; done`, `for f in $(ls); do cat "$f"; done`, `for f in .env; do cat "$f"; done`, `for f in ../x; do cat "$f"; done`, `for PATH in x; do ls; done`, `for f in a; do f=../x; cat $f; done`, `for f in src; do cd $f; cat ../../x; done`, `for ((i=0;i<x;i++)); do ls; done`, `for f; do cat "$f"; done`, `select f in a; do ls; done`,
		`x=../y; cat "$x"`, `x=.env; cat $x`, `x='a ../y'; cat $x`, `x='*'; cat $x`, `PATH=x; ls`, `x=a; [ a = b ] && x=../y; cat $x`, `x=main.go; (x=y); x=$(ls); cat $x`, `if [ a ]; then x=../y; fi; cat $x`, `x=main.go; while [ a ]; do cat $x; x=../y; done`, `x=rm; $x main.go`, `x='-exec'; find . $x rm {} +`, `http_proxy=x; ls`, `x=$SECRET; echo "$x"`, `x=$(cat .env); echo "$x"`, `x+=a; ls`, `x[1]=a; ls`, `x=a ls`,
		`[[ -v x ]]`, `[[ $x -eq 0 ]]`, `[[ a -lt b ]]`, `[[ $SECRET == a ]]`, `[[ -f ../x ]]`, `[[ -n ${x@P} ]]`, `[ -v x ]`, `[ $(ls) ]`, `[ "$x" "$y" "$z" ]`, `test $(cat x) = y`, `[ "$(ls)" -a "$(ls)" ]`, `printf "$(ls)"`, `printf -v x "$(ls)"`, `basename "$SECRET"`, `case $SECRET in a) ls;; esac`, `case a in a) rm x;; esac`, `case a in $(rm x)) ls;; esac`, `case a in b) ;; *) make;; esac`,
		`for i in {1..99999}; do ls; done`, `cat /etc/{1..2}`, `ls {1..2}/../../x`, `rm {1..3}`, `touch{1..2} x`, `echo {01..3}`, `echo {1..3..1}`, `echo "${HOME%x}"`, `echo "${SECRET#x}" "${#SECRET}"`, `x=.env; cat "${x%y}"`, `x=a; ${x#b} y`, `x=a; test ${x#b}`, `x=a; echo "${x%$(make)}"`, `x=a; echo "${x[0]%a}"`, `x=a; echo "${x/a/b}"`,
		`timeout 5 bash -c 'make'`, `timeout 5 bash -c "$x"`, `env LD_PRELOAD=x bash -c ls`, `env -i bash -c ls`, `nice bash -c 'cat .env'`, `timeout -s 9 -x 5 bash -c ls`, `nohup bash x.sh`, `nice ./bash -c ls`, `setsid sh -c 'echo a &>/dev/null ./x'`, `timeout 5 bash -c ls x`,
		`git -C ../outside status`, `git -C src -c a=b status`, `git -C .git status`, `git diff --ext-diff`, `git log --textconv`, `git show --output=x`, `git {push,x}`, `git diff --no-index a b`, "echo `cat <<E\n\\`make\\`\nE\n`", `ls >&-x`, `ls >&-''`, `ls >&3-''`, `ls >&-""`, "ls >&\\\n-''", `ls >& '$(x)'`, `ls | time -o x make`, `time -- ls`, `time --`, `time -- >.git/config`, `time -- a=b ls`, `ls \`, `sh -c 'echo a &>/dev/null ./x'`, `bash -c "$x"`, `cat <<< "$SECRET"`, "cat <<E\n$SECRET\nE", "cat <<E\n$(make)\nE", `cat {.env,main.go}`, `cat {..,x}/y`, `{rm,main.go}`, `r{m,} x`, `cat src/{a,../../x}`,
	} {
		if v := bash(p, cmd); v.Action == Allow {
			t.Errorf("%q is silent", cmd)
		}
	}
}

// Where edits are accepted, commands that edit inside are silent, and no others.
func TestEditsByCommands(t *testing.T) {
	p := project(t)
	p.Mode = AcceptEdits
	for cmd, want := range map[string]bool{
		`mkdir -p a/b`: true, `touch a`: true, `cp main.go b.go`: true, `cp -r src s2`: true, `cp -a src s2`: true, `mv main.go m.go`: true, `rm main.go`: true, `rm -rf build`: true, `rmdir emptydir`: true, `sed -i 's/a/b/' main.go`: true, `sed -i.bak -e s/a/b/ main.go`: true, `timeout 5 touch a`: true, `for f in a b; do touch "$f"; done`: true,
		`cp main.go ../x`: false, `cp ../outside/x .`: false, `mv main.go .git/hooks/x`: false, `cp .env x`: false, `rm -rf .git`: false, `rm -rf certs`: false, `rm -rf config`: false, `cp -r .git/. g`: false, `cp -a .git g`: false, `cp .git/HEAD h`: false, `cp -r . g`: false, `cp -r src/../.git/. g`: false, `touch .envrc`: false, `mkdir .acp-agent`: false, `rm -rf .`: false, `rm -rf *`: false, `sed -i 'w x' main.go`: false, `sed -i s/a/b/e main.go`: false, `cp --target-directory=.. main.go`: false, `cp -t .. main.go`: false, `mv -t .. main.go`: false, `touch ../x`: false, `touch -r x y`: false, `chmod +x main.go`: false, `ln -s a b`: false, `x=1 touch a`: false, `touch "$X"`: false, `sudo touch a`: false, `tee a`: false, `dd of=a`: false,
	} {
		if v := bash(p, cmd); (v.Action == Allow) != want {
			t.Errorf("%q: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
}
