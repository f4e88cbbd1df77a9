# Comity: a bash that an agent program starts begins again through comity-confine, where the files that others hold are
# read-only. BASH_ENV names this file; docs/guide/guards.md says more. Written by `comity init`: changes in here are lost.
if [[ ${BASH_EXECUTION_STRING-} != @HOOK_LINE@ && ${BASH_EXECUTION_STRING-} != @GATE_LINE@ ]] &&
  mapfile -d '' -t COMITY_WORDS </proc/$$/cmdline 2>/dev/null; then
  if [[ ! -x @CONFINE@ ]]; then
    echo "Comity: this did not run: "@CONFINE@" is gone; install Comity again, or take BASH_ENV out of this program's settings" >&2
    exit 126
  fi
@HOME_LINE@
  exec @CONFINE@ --again "$BASH" "${COMITY_WORDS[@]}"
fi
