import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { classesOf, family } from '../errors.mjs';
import { packages } from '../workspace.mjs';

describe('the list of errors', () => {
  test('classes of errors are found with what they say of themselves', () => {
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
    expect(classesOf(source)).toEqual([
      { name: 'OddError', about: 'It is odd.' },
      { name: 'WideError', about: '' },
      { name: 'LooseError', about: '' },
    ]);
  });

  test('every error belongs to the family, and every code has a meaning and a remedy', async () => {
    const classes = await family();
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

  test('a code that is thrown is on the page', async () => {
    const known = new Map(
      (await family()).map(({ name, codes }) => [name, new Set(codes.map(({ code }) => code))]),
    );
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

  test('no error has the name of an error of the platform', async () => {
    const own = (await family()).map(({ name }) => name);
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
