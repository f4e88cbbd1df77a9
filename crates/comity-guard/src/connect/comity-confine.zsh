# Comity: a zsh that an agent program starts begins again through comity-confine, where the files that others hold are
# read-only. ZDOTDIR names this directory; comity-confine sets it back, so that zsh reads its user's own files then.
# docs/guide/guards.md says more. Written by `comity init`: changes in here are lost.
() {
  emulate -L zsh
  if [[ ! -x @CONFINE@ ]]; then
    print -u2 "Comity: this did not run: "@CONFINE@" is gone; install Comity again, or take ZDOTDIR out of this program's settings"
    exit 126
  fi
@HOME_LINE@
  local -a words=("${(@0)"$(</proc/$$/cmdline)"}")
  # Behind the last word there is an end, too.
  exec @CONFINE@ --again "${${:-/proc/$$/exe}:A}" "${(@)words[1,-2]}"
}
