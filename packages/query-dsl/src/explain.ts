import { isBound, shapeOf } from './bound.ts';
import { dialects, type KnownField } from './dialects.ts';
import { explainRange, noBlank } from './explain-range.ts';
import { quote } from './problem.ts';
import type { Reader } from './reader.ts';
import { suggest } from './suggest.ts';

/** Says what is wrong in the part the reader stands at, which `scanClause` has refused. */
export function explainClause(reader: Reader, fields: readonly KnownField[]): void {
  noBlank(reader);
  const field = explainName(reader, fields);
  if (field === undefined) return;
  noBlank(reader);
  const equals = reader.pos;
  if (reader.take('=') !== '') {
    reader.report('missing_colon', equals, reader.pos, 'Expected ":", found "=".', {
      expected: [':'],
      fix: ':',
    });
  } else if (reader.take(':') === '') {
    reader.miss('missing_colon', [':']);
    return;
  }
  noBlank(reader);
  if (field.type === 'flag') explainFlag(reader, field);
  else if (/[[{]/.test(reader.text.charAt(reader.pos))) explainRange(reader, field.type);
  else explainValue(reader, field);
}

function explainName(reader: Reader, fields: readonly KnownField[]): KnownField | undefined {
  const { pos } = reader;
  const expected = fields.map((known) => known.name);
  const name = reader.take('[^\\s:=,[\\]{}]+');
  const known = fields.find((field) => field.name === name);
  if (known !== undefined) return known;
  if (name === '') {
    reader.miss('unknown_field', expected);
    return undefined;
  }
  if (Object.hasOwn(dialects.v3.fields, name)) {
    const message = `${name} is a filter of v3; v2 has no such filter.`;
    reader.report('wrong_version', pos, reader.pos, message, { expected });
    return undefined;
  }
  const suggestions = suggest(name, expected);
  const odd = /[^ -~]/u.exec(name);
  if (odd !== null) {
    const message = `Found ${quote(odd[0])} in the name of a field: names have plain letters.`;
    const from = pos + odd.index;
    reader.report('unknown_field', from, from + odd[0].length, message, { expected, suggestions });
    return undefined;
  }
  const same = fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
  const hint =
    suggestions.length > 0
      ? `Did you mean ${suggestions.map(quote).join(' or ')}?`
      : `Known fields: ${expected.join(', ')}.`;
  reader.report('unknown_field', pos, reader.pos, `Unknown field ${quote(name)}. ${hint}`, {
    expected,
    suggestions,
    fix: same?.name,
  });
  return same;
}

function explainFlag(reader: Reader, field: KnownField): void {
  const { pos } = reader;
  if (reader.take('[^\\s,]*') === '1') return;
  const message = `${field.name} takes only 1. Leave the part out to do without.`;
  reader.report('flag_value', pos, reader.pos, message, { expected: ['1'] });
}

// `field:value` without brackets.
function explainValue(reader: Reader, { name, type }: KnownField): void {
  const { pos } = reader;
  const expected = ['[', '{'];
  const value = reader.take('[^]+').trimEnd();
  if (value === '') {
    reader.miss('missing_range', expected);
    return;
  }
  const bare = value.replace(/^(["'])(.*)\1$/, '$2');
  const fix = bare === '*' || isBound(bare, type) ? `[${bare} TO ${bare}]` : undefined;
  const hint = fix === undefined ? `Write ${name}:[${shapeOf(type)} TO *].` : `Did you mean ${name}:${fix}?`;
  reader.report('missing_range', pos, pos + value.length, `${name} takes a range. ${hint}`, {
    expected,
    fix,
  });
}
