// Each script hands the words up to the cursor to `calls complete` and offers what it prints: a
// line that says what kind of words these are, then one line for each, with a tab and its
// explanation.

/** For bash, also 3.2, which has no `compopt`. */
const bash = `# bash completion for calls; load it with: source <(calls completion bash)
_calls() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}"
  # bash splits --option=value at the equals sign.
  [[ $word == = ]] && word=""
  local lines=($(calls complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  COMPREPLY=()
  case "\${lines[0]}" in
    file) COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null ;;
    folder) COMPREPLY=($(compgen -d -- "$word")); compopt -o filenames 2>/dev/null ;;
    list) COMPREPLY=("\${lines[@]:1}"); compopt -o nospace 2>/dev/null ;;
    words) COMPREPLY=("\${lines[@]:1}") ;;
  esac
  COMPREPLY=("\${COMPREPLY[@]%%$'\\t'*}")
}
complete -F _calls calls
`;

/** For zsh, to be sourced or to be put into a folder of `fpath` as `_calls`. */
const zsh = `#compdef calls
# zsh completion for calls; load it with: source <(calls completion zsh)
_calls() {
  local -a lines names after
  lines=("\${(@f)$(calls complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  local kind=$lines[1]
  shift lines
  case $kind in
    file|folder)
      [[ $PREFIX == --*=* ]] && compset -P '*='
      if [[ $kind == file ]]; then _files; else _files -/; fi ;;
    list|words)
      names=("\${(@)lines%%$'\\t'*}")
      lines=("\${(@)lines/$'\\t'/  -- }")
      [[ $kind == list ]] && after=(-S '')
      (( $#names )) && compadd "\${after[@]}" -l -d lines -a names ;;
  esac
}
# In a folder of fpath this file is the function itself.
if [ "$funcstack[1]" = _calls ]; then _calls "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }
  compdef _calls calls
fi
`;

/** For fish. */
const fish = `# fish completion for calls; load it with: calls completion fish | source
function __calls_complete
  set -l word (commandline -ct)
  set -l typed (commandline -opc)[2..-1]
  set -l lines (calls complete -- $typed "$word" 2>/dev/null)
  set -l option (string match -r -- '^--[^=]*=' $word)
  set -l value (string replace -r -- '^--[^=]*=' '' $word)
  switch "$lines[1]"
    case file
      for path in (__fish_complete_path "$value"); echo "$option$path"; end
    case folder
      for path in (__fish_complete_directories "$value"); echo "$option$path"; end
    case '*'
      printf '%s\\n' $lines[2..-1]
  end
end
complete -c calls -f -a '(__calls_complete)'
`;

/** The script of each shell. */
export const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };
