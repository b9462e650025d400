import { type Call, fields, fromCall, toCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { testStores } from '@call-attribution/test-tools';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { everything, importCalls, openStore } from '../src/index.ts';
import { openLimitedStore } from '../src/open-store.ts';
import { fieldsOfOwnForm } from '../src/rows/lines.ts';
import { type CallRow, rowOfLine, toRow } from '../src/rows/record.ts';

const runs = Number(process.env.CALLS_RUNS ?? 20);
const patterns = fixtureCalls(20) as readonly Call[];
const names = [...fields.map(({ name }) => name), 'new_field', 'a "new" field', 'ünknown'];

/** Values that a server can send, the odd ones too. */
const value = fc.oneof(
  fc.constantFrom(
    '',
    '=',
    '=1',
    '"',
    '\\',
    'null',
    '\u001f',
    '\ud800',
    '\ufffd',
    'é',
    '👩‍💻',
    'a\tb\nc',
    '/',
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(0, -0, 1, -17, 1.5, 1e21, 123456789012345, 1234567890123456, true, false, null),
  fc.constant({ nested: [1, null, '"'] }),
);
const change = fc.record({ name: fc.constantFrom(...names), value });

/** Lines with the records of some calls, in one form or in several, as a server or an editor may write them. */
const batch = fc.record({
  version: fc.constantFrom('neutral', 'v2', 'v3'),
  changes: fc.array(fc.array(change, { maxLength: 4 }), { minLength: 2, maxLength: 12 }),
  print: fc.constantFrom(
    (record: object) => JSON.stringify(record),
    (record: object) => JSON.stringify(record).replaceAll('/', '\\/'),
    (record: object) => JSON.stringify(record, null, 1).replaceAll('\n', ' '),
    (record: object) =>
      JSON.stringify(record).replace(
        /[\u0080-\uffff]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    (record: object) => JSON.stringify(Object.fromEntries(Object.entries(record).reverse())),
    (record: object) => JSON.stringify(record).replaceAll('\\ud800', '\ud800'),
    (record: object) => JSON.stringify(record).replace('{', '{"ppc_campaign":"twice",'),
    (record: object) => JSON.stringify({ ...record, date_added: undefined }),
  ),
});

test('a row of a line that is not parsed has the columns of the one that is', () => {
  const rowOr = (row: () => CallRow) => {
    try {
      const { values, ...rest } = row();
      return { ...rest, values: values() };
    } catch (error) {
      return String(error);
    }
  };
  let own = 0;
  const law = fc.property(
    fc.constantFrom(...patterns),
    fc.array(change, { maxLength: 3 }),
    (call, changes) => {
      const changed = { ...call, ...Object.fromEntries(changes.map(({ name, value }) => [name, value])) };
      const line = JSON.stringify(fromCall(changed as Call, 'v3'));
      if (fieldsOfOwnForm(line) !== null) own += 1;
      const parsed = toCall(JSON.parse(line), 'v3', { records: 'off' });
      expect(rowOr(() => rowOfLine(line))).toEqual(rowOr(() => toRow(parsed)));
    },
  );
  fc.assert(law, { numRuns: runs * 10 });
  expect(own).toBeGreaterThan(runs);
});

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test('it returns the bytes of records as it did before, however their lines were written and passed', async () => {
    // All calls of a page come in one piece.
    const store = await openLimitedStore(await newUrl(), {}, { sliceRows: 10_000 });
    await store.putAccount({ id: 'bytes', name: 'bytes' });
    await store.putAccount({ id: 'strings', name: 'strings' });
    await store.putAccount({ id: 'calls', name: 'calls' });
    let batches = 0;
    await fc.assert(
      fc.asyncProperty(batch, async ({ version, changes, print }) => {
        batches += 1;
        const records = changes.map((some, i) => {
          const call = { ...patterns[i % patterns.length] } as unknown as Record<string, unknown>;
          for (const { name, value: changed } of some) call[name] = changed;
          call.sid = `s${batches}-${i}`;
          return version === 'neutral' ? call : fromCall(call as unknown as Call, version);
        });
        const texts = records.map(print);
        const calls = texts.map((text) =>
          toCall(JSON.parse(text), version === 'v2' ? 'v2' : 'v3', { records: 'off' }),
        );
        await store.upsert(
          'bytes',
          texts.map((text) => Buffer.from(text)),
        );
        await store.upsert('strings', texts);
        await store.upsert('calls', calls);
        const kept = texts.map((text) => JSON.parse(Buffer.from(text).toString()) as object);
        const fromBytes = kept.map((record) =>
          toCall(record, version === 'v2' ? 'v2' : 'v3', { records: 'off' }),
        );
        for (const form of ['v2', 'v3'] as const)
          for (const account of ['bytes', 'strings', 'calls']) {
            const page = await store.page(account, {
              selection: everything,
              version: form,
              offset: 0,
              rows: 10_000,
            });
            const documents = String(page.body);
            for (const call of account === 'bytes' ? fromBytes : calls)
              expect(documents).toContain(JSON.stringify(fromCall(call, form)));
          }
      }),
      { numRuns: runs },
    );
    expect(await store.check()).toEqual([]);
    await store.close();
  });

  test('a line that would be one of ours, but for a control character in a text, is no JSON and refused', async () => {
    const store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'One' });
    const line = (browser: string) =>
      JSON.stringify(fromCall({ ...(patterns[0] as Call), browser }, 'v3')).replace('*', '\t');
    await expect(store.upsert('1', [line('a*b')])).rejects.toMatchObject({ code: 'unfit_record' });
    expect(await store.upsert('1', [line('ab')])).toMatchObject({ added: 1 });
    await store.close();
  });

  test('it finds the calls of an erased caller in lines too', async () => {
    const store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'One' });
    await store.erase('1', ['(555) 555-0199']);
    const record = { ...patterns[0], ani: '5555550199' };
    const other = { ...patterns[1], ani: null };
    const lines = [record, other].map((call) => Buffer.from(JSON.stringify(call)));
    expect(await store.upsert('1', lines)).toMatchObject({ added: 1, leftOut: 1 });
    await store.close();
  });

  test('an import that fails at a line has stored all lines before it, and none after it', async () => {
    const store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'One' });
    const good = (sid: number) => `${JSON.stringify({ ...patterns[0], sid: `s${sid}` })}\r\n`;
    const source = async function* () {
      yield '\n \n';
      for (let sid = 0; sid < 1_100; sid += 1) yield good(sid);
      yield '{"sid":null}\n';
      for (let sid = 1_100; sid < 1_300; sid += 1) yield good(sid);
    };
    await expect(importCalls(store, '1', source())).rejects.toThrow('Line 1103: ');
    expect(await store.count('1', everything)).toBe(1_100);

    const broken = async function* () {
      for (let sid = 0; sid < 20; sid += 1) yield good(5_000 + sid);
      throw new Error('The file went away.');
    };
    await expect(importCalls(store, '1', broken())).rejects.toThrow('went away');
    expect(await store.count('1', everything)).toBe(1_120);
    await store.close();
  });

  test('it keeps what is readable of bytes that are not UTF-8', async () => {
    const store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'One' });
    const line = Buffer.from(JSON.stringify({ ...patterns[0], city: 'M?nchen' }));
    line[line.indexOf('?nchen')] = 0xfc;
    const [before, sid] = [JSON.stringify(patterns[1]), patterns[0]?.sid as string];
    await store.upsert('1', [Buffer.from(before), line]);
    expect((await store.get('1', sid))?.city).toBe('M\ufffdnchen');
    await store.close();
  });
});
