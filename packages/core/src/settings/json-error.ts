const space = /[ \t\r\n]*/y;
const string = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y;

type State =
  | 'value'
  | 'first name'
  | 'name'
  | 'colon'
  | 'first item'
  | 'after item'
  | 'after value'
  | 'end';

/**
 * What should be there, and what may be, with the state that follows; null is the state after a
 * value.
 */
type Rule = readonly [expected: string, ...followed: (readonly [RegExp, State | null])[]];

const values: (readonly [RegExp, State | null])[] = [
  [string, null],
  [scalar, null],
  [/\{/y, 'first name'],
  [/\[/y, 'first item'],
];
const more = 'a comma, or the closing bracket';
const rules: Readonly<Record<State, Rule>> = {
  value: ['a value, such as a string in double quotes', ...values],
  'first name': ['a name in double quotes, or }', [string, 'colon'], [/\}/y, null]],
  name: ['a name in double quotes', [string, 'colon']],
  colon: ['a colon', [/:/y, 'value']],
  'after value': [more, [/,/y, 'name'], [/\}/y, null]],
  'first item': ['a value, or ]', [/\]/y, null], ...values],
  'after item': [more, [/,/y, 'value'], [/\]/y, null]],
  end: ['the end of the file'],
};
const afterValue: Readonly<Record<string, State>> = { '{': 'after value', '[': 'after item' };

/**
 * Says where a string that JSON.parse refuses stops being JSON, and what should be there. Messages
 * of JSON.parse do not always tell the place, and they quote what is around it, which may be a
 * secret.
 */
export function notJsonText(text: string, source: string): string {
  let at = 0;
  let state: State = 'value';
  const open: string[] = [];

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };

  for (;;) {
    take(space);
    const [expected, ...followed]: Rule = rules[state];
    let found: string | undefined;
    const rule = followed.find(([pattern]) => {
      found = take(pattern);
      return found !== undefined;
    });
    if (rule === undefined || found === undefined) {
      const lines = text.slice(0, at).split('\n');
      const column = (lines.at(-1)?.length ?? 0) + 1;
      return `${source} is not JSON: line ${lines.length}, column ${column} should have ${expected}`;
    }
    if (found === '{' || found === '[') open.push(found);
    if (found === '}' || found === ']') open.pop();
    state = rule[1] ?? afterValue[open.at(-1) ?? ''] ?? 'end';
  }
}
