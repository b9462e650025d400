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
 * Says where a string that JSON.parse refuses stops being JSON, and what should be there. Messages of JSON.parse do not always tell
 * the place, and they quote what is around it, which may be a secret.
 */
export function notJsonText(text: string, source: string): string {
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
  const column = (lines.at(-1)?.length ?? 0) + 1;
  return `${source} is not JSON: line ${lines.length}, column ${column} should have ${expectations[state]}`;
}
