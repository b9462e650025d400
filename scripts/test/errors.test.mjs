import { describe, expect, test } from 'vitest';
import { classesOf, family } from '../errors.mjs';

describe('the list of errors', () => {
  test('classes of errors are found in a source', () => {
    const source = `
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
    expect(classesOf(source)).toEqual(['OddError', 'WideError', 'LooseError']);
  });

  test('every error belongs to the family, and every code has a meaning and a remedy', async () => {
    const classes = await family();
    expect(classes.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'FilterSyntaxError',
        'HttpError',
        'StreamError',
        'StoreError',
        'PushError',
      ]),
    );
    for (const { name, codes } of classes)
      for (const { code } of codes) expect(code, name).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  test('no error has the name of an error of the platform', async () => {
    const own = (await family()).map(({ name }) => name);
    const platform = [
      ...Object.getOwnPropertyNames(globalThis).filter((name) => name.endsWith('Error')),
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
      'Operation',
      'NotSupported',
      'NotAllowed',
      'NotReadable',
      'Constraint',
      'Version',
      'Unknown',
      'ReadOnly',
      'Transaction',
    ].map((name) => (name.endsWith('Error') ? name : `${name}Error`));
    expect(own.filter((name) => platform.includes(name))).toEqual([]);
  });
});
