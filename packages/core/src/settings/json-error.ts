/** Where a string stops being JSON, and what was expected there. */
export interface JsonError {
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;
  /** What JSON has there. */
  readonly expected: string;
}

const space = /[ \t\r\n]*/y;
const string = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y;

type State = 'value' | 'first name' | 'name' | 'colon' | 'first item' | 'more' | 'end';

const expectations: Readonly<Record<State, string>> = {
  value: 'a value, such as a string in double quotes',
  'first name': 'a name in double quotes, or }',
  name: 'a name in double quotes',
  colon: 'a colon',
  'first item': 'a value, or ]',
  more: 'a comma, or the closing bracket',
  end: 'the end of the file',
};

/**
 * Finds the first error of a string that JSON.parse refuses. Messages of JSON.parse do not always tell the place, and they
 * quote what is around it, which may be a secret.
 */
export function jsonError(text: string): JsonError {
  let at = 0;
  let state: State = 'value';
  const open: string[] = [];
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found !== null;
  };
  const close = (): void => {
    at += 1;
    open.pop();
    state = open.length > 0 ? 'more' : 'end';
  };
  for (;;) {
    take(space);
    const character = text[at];
    const closing = open.at(-1) === '{' ? '}' : ']';
    if (state === 'first name' || state === 'name') {
      if (character === '}' && state === 'first name') close();
      else if (take(string)) state = 'colon';
      else break;
    } else if (state === 'colon') {
      if (character !== ':') break;
      at += 1;
      state = 'value';
    } else if (state === 'more') {
      if (character === closing) close();
      else if (character === ',') {
        at += 1;
        state = closing === '}' ? 'name' : 'value';
      } else break;
    } else if (state === 'end') {
      break;
    } else if (state === 'first item' && character === ']') {
      close();
    } else if (character === '{' || character === '[') {
      at += 1;
      open.push(character);
      state = character === '{' ? 'first name' : 'first item';
    } else if (take(string) || take(scalar)) {
      state = open.length > 0 ? 'more' : 'end';
    } else break;
  }
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, expected: expectations[state] };
}
