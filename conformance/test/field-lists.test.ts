import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fields } from '@call-attribution/core/fields';
import { describe, expect, test } from 'vitest';

// One table says what a field is. A list of field names anywhere else is wrong after the next change of the table,
// unless the choice of fields is itself the idea.

/** Files that may list fields, and why the table cannot give the list. */
const allowed: Readonly<Record<string, string>> = {
  'packages/cli/src/commands/list-output.ts': 'the columns of a table that fits a terminal',
  'packages/cli/src/commands/watch.ts': 'the columns of a line for each call',
  'packages/questions/src/chart/words.ts': 'what people call a few fields',
  'packages/questions/src/fields/click-ids.ts': 'the order in which URLs are searched for a click id',
  'packages/questions/src/conditions/names.ts': 'words that people use for several fields',
  'packages/questions/src/engine/sequences.ts': 'the fields that a derived field is made of',
  'packages/core/src/testing/fixture-calls.ts':
    'a value for each field; the type of a call proves that none is missing',
  'packages/mcp-server/src/fields/select.ts': 'the fields an assistant is shown when it does not choose',
  'packages/mcp-server/src/prompts/prompts.ts': 'the fields that decide whether a call can be uploaded',
  'packages/mcp-server/src/tools/describe-data.ts': 'the fields that most questions are about',
  'packages/mcp-server/src/tools/explain-change.ts': 'the fields by which a change is looked for',
  'packages/sandbox/src/generate/make-call.ts':
    'a generated value for each field; a test proves that none is missing',
  'packages/sandbox/src/generate/people.ts': 'the parts of a generated device',
  'packages/service/browser/state.ts': 'the columns that people see before they choose others',
  'packages/service/src/page/question.ts': 'the fields that people break calls down by',
  'packages/store/src/database/own-columns.ts':
    'the fields of text that have a column of their own, since people group and search by them',
  'packages/store/src/rows/lines.ts':
    'the fields that a row takes from a line without parsing it; a test compares',
  'packages/warehouse/src/tables/row-writer.ts':
    'the columns that decide which call is stored, and whose it is',
};

const root = join(import.meta.dirname, '../..');
const names = new Set(
  fields.flatMap(({ name, v2, v3, aliases = [] }) => [name, v2 ?? name, v3 ?? name, ...aliases]),
);

interface Frame {
  readonly opening: string;
  readonly line: number;
  readonly found: Set<string>;
}

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`|[[\](){}]|[A-Za-z_$][\w$]*|[^\s\w]/g;

/**
 * Lists of three or more fields in a source: names in an array, keys of an object or a type, cases of a switch, and
 * strings of names alone. One line each: where, and which names.
 */
function fieldLists(source: string): string[] {
  const lists: string[] = [];
  const stack: Frame[] = [{ opening: '', line: 1, found: new Set() }];
  const report = ({ line, found }: Frame) => {
    if (found.size > 2) lists.push(`line ${line}: ${[...found].join(' ')}`);
  };
  let before = '';
  for (const match of source.matchAll(token)) {
    const [text, single, double, template] = match;
    if (text.startsWith('//') || text.startsWith('/*')) continue;
    const frame = stack.at(-1) as Frame;
    const line = source.slice(0, match.index).split('\n').length;
    const literal = single ?? double ?? template;
    const after = source.slice(match.index + text.length, match.index + text.length + 3);
    const isKey = /^\??:/.test(after) && before !== '?';
    const isValue = before === ':' && /^\s*[,}]/.test(after);
    if (text === '[' || text === '(' || text === '{') stack.push({ opening: text, line, found: new Set() });
    else if (text === ']' || text === ')' || text === '}') {
      if (stack.length > 1) stack.pop();
      const parent = stack.at(-1) as Frame;
      // A list of pairs is a list of what the pairs name.
      if (parent.opening === '[' && frame.opening !== '(')
        for (const name of frame.found) parent.found.add(name);
      else report(frame);
    } else if (literal !== undefined) {
      const words = literal.split(/[\s,]+/).filter(Boolean);
      const known = words.filter((word) => names.has(word));
      if (known.length === words.length && known.length > 2)
        report({ opening: '', line, found: new Set(known) });
      else if (known.length === 1 && words.length === 1 && (frame.opening === '[' || isKey || isValue))
        frame.found.add(literal);
    } else if (names.has(text) && isKey && frame.opening === '{') frame.found.add(text);
    before = text;
  }
  return lists;
}

function sourcesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return /^(node_modules|dist|generated|test|test-tools)$/.test(entry.name) ? [] : sourcesOf(path);
    return /\.ts$/.test(entry.name) && !/\.d\.ts$/.test(entry.name) ? [path] : [];
  });
}

const table = 'packages/core/src/record/fields.ts';
const listing = new Map(
  sourcesOf(join(root, 'packages')).flatMap((path) => {
    const name = relative(root, path).replaceAll('\\', '/');
    const lists = name === table ? [] : fieldLists(readFileSync(path, 'utf8'));
    return lists.length > 0 ? [[name, lists] as const] : [];
  }),
);

describe('only the field table lists fields', () => {
  test.each([
    ["const short = { a: 'ani', b: 'dnis', c: 'rank' };", 'ani dnis rank'],
    ["const phones = ['ani', 'dnis', 'phone_number'];", 'ani dnis phone_number'],
    ["new Map([['ani', 'phone'], ['first_name', 'name'], ['zipcode', 'zip']])", 'ani first_name zipcode'],
    ['const titles = { sid: 1, ani: 2,\n  rank: 3 };', 'sid ani rank'],
    [
      'interface Row { readonly sid: string; ani: string; rank?: string; channel: string }',
      'sid ani rank channel',
    ],
    ["switch (name) { case 'ani': case 'dnis': case 'phone_number': return true; }", 'ani dnis phone_number'],
    ["'sid ani baseuri'.split(' ')", 'sid ani baseuri'],
    ["const shown = ['sid', ...['ani', 'rank']];", 'sid ani rank'],
  ])('%s is found', (source, found) => {
    expect(fieldLists(source).join()).toContain(found);
  });
  test.each([
    "const pair = ['ani', 'dnis'];",
    "read(call, 'ani'); read(call, 'dnis'); read(call, 'rank');",
    "// ['ani', 'dnis', 'rank']\nconst { sid, ani, dnis } = call;",
    "const text = 'the fields ani, dnis and rank';",
    'const value = flag ? sid : ani ? dnis : rank;',
  ])('%s is fine', (source) => expect(fieldLists(source)).toEqual([]));
  test('no other source does, except where the choice of fields is the idea', () => {
    const others = [...listing].filter(([path]) => !Object.hasOwn(allowed, path));
    expect(Object.fromEntries(others)).toEqual({});
  });
  test('every exception is still needed', () => {
    expect(Object.keys(allowed).filter((path) => !listing.has(path))).toEqual([]);
  });
});
