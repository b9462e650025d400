import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { classesOf, codesOf, family } from '../errors.mjs';
import { packages } from '../workspace.mjs';

const union = `
/** Codes of \`OddError\`. */
export type OddErrorCode =
  /** It is odd. Make it even. */
  | 'odd'
  /** It is negative (below 0). Use \`Math.abs\`. */
  | 'negative';

export type Fact =
  /** There is no name. Add one. */
  | { readonly code: 'no_name'; readonly kind: 'x' | 'y' }
  | {
      readonly code: 'bare';
    };

`;

describe('the list of errors', () => {
  test('codes are read with what they mean and what to do', () => {
    expect(codesOf(union, 'OddErrorCode')).toEqual([
      { code: 'odd', meaning: 'It is odd.', remedy: 'Make it even.' },
      { code: 'negative', meaning: 'It is negative (below 0).', remedy: 'Use `Math.abs`.' },
    ]);
    expect(codesOf(union, 'Fact')).toEqual([
      { code: 'no_name', meaning: 'There is no name.', remedy: 'Add one.' },
      { code: 'bare', meaning: '', remedy: '' },
    ]);
    expect(codesOf(union, 'Other')).toBeUndefined();
  });

  test('classes are read with their base and the union of their codes', () => {
    const source = `
/** It is odd. */
export class OddError extends CallsError<OddErrorCode> {
  static {}
}
export class WideError<C extends string = WideErrorCode | Other> extends OddError<C> {
}
class LooseError extends Error {
}
class Other extends Map {
}
`;
    expect(classesOf(source)).toMatchObject([
      { name: 'OddError', base: 'CallsError', about: 'It is odd.', union: 'OddErrorCode' },
      { name: 'WideError', base: 'OddError', union: 'WideErrorCode' },
      { name: 'LooseError', base: 'Error', union: '' },
    ]);
  });

  test('every error belongs to the family, and every code has a meaning and a remedy', () => {
    const classes = family();
    expect(classes.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'FilterSyntaxError',
        'HttpError',
        'StreamError',
        'StoreError',
        'WarehouseError',
        'PushError',
      ]),
    );
    for (const { name, codes } of classes)
      for (const { code } of codes) expect(code, name).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  test('a code that is thrown is on the page', () => {
    const known = new Map(family().map(({ name, codes }) => [name, new Set(codes.map(({ code }) => code))]));
    let thrown = 0;
    for (const { dir } of packages)
      for (const file of readdirSync(join(dir, 'src'), { recursive: true, encoding: 'utf8' })) {
        if (!file.endsWith('.ts')) continue;
        const source = readFileSync(join(dir, 'src', file), 'utf8');
        for (const [, name = '', code = ''] of source.matchAll(/new (\w+)\(\s*(?:\d+,\s*)?'(\w+)'/g)) {
          if (!known.has(name)) continue;
          thrown += 1;
          expect([...(known.get(name) ?? [])], `${file}: ${name}`).toContain(code);
        }
      }
    expect(thrown).toBeGreaterThan(100);
  });

  test('no error has the name of an error of the platform', () => {
    const own = family().map(({ name }) => name);
    const platform = [
      ...Object.getOwnPropertyNames(globalThis).filter((name) => name.endsWith('Error')),
      ...[
        'Timeout',
        'Abort',
        'Network',
        'NotFound',
        'InvalidState',
        'QuotaExceeded',
        'Security',
        'DataClone',
        'Data',
        'Encoding',
      ],
      ...[
        'Operation',
        'NotSupported',
        'NotAllowed',
        'NotReadable',
        'Constraint',
        'Version',
        'Unknown',
        'ReadOnly',
        'Transaction',
      ],
    ].map((name) => (name.endsWith('Error') ? name : `${name}Error`));
    expect(own.filter((name) => platform.includes(name))).toEqual([]);
  });
});
