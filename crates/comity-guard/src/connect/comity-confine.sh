# Comity: a bash that an agent program starts begins again through comity-confine, where the files that others hold are
# read-only. BASH_ENV names this file; docs/guide/guards.md says more. Written by `comity init`: changes in here are lost.
if [[ ${BASH_EXECUTION_STRING-} != "exec '${BASH_SOURCE[0]%/*}/comity-hook' copilot" ]] &&
  mapfile -d '' -t COMITY_WORDS </proc/$$/cmdline 2>/dev/null; then
  exec "${BASH_SOURCE[0]%/*}/comity-confine" --again "$BASH" "${COMITY_WORDS[@]}"
fi
