import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter, anyText, compilePattern, type PatternPart } from '../src/record/index.ts';

/** The same by its definition, character by character. */
function matchesByDefinition(text: string, parts: readonly PatternPart[]): boolean {
  const tokens = parts.flatMap((part): PatternPart[] =>
    typeof part === 'string' ? [...part] : [part],
  );
  let reached = new Set([0]);
  const characters = [...text];
  for (const token of tokens) {
    const next = new Set<number>();
    for (const at of reached) {
      if (token === anyText) for (let to = at; to <= characters.length; to += 1) next.add(to);
      else if (at < characters.length && (token === anyCharacter || token === characters[at]))
        next.add(at + 1);
    }
    reached = next;
  }
  return reached.has(characters.length);
}

const letters = fc.stringMatching(/^[ab😀]{0,3}$/u);
const part = fc.oneof<fc.Arbitrary<PatternPart>[]>(
  letters,
  fc.constant(anyCharacter),
  fc.constant(anyText),
);

test('a pattern matches what it means, whatever its parts and the text are', () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 8 }),
      fc.stringMatching(/^[ab😀]{0,12}$/u),
      (parts, text) => {
        expect(compilePattern(parts)(text)).toBe(matchesByDefinition(text, parts));
      },
    ),
    { numRuns: 3000 },
  );
});

test('many wildcards take no more steps than the text and the pattern are long', () => {
  const wild = Array.from({ length: 2000 }, () => [anyText, anyCharacter]).flat();
  const text = 'a'.repeat(5000);
  expect(compilePattern([...wild, anyText, '~'])(text)).toBe(false);
  expect(compilePattern([...wild, anyText, 'a'])(text)).toBe(true);
});
