import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fields } from '@call-attribution/core';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, describe, expect, test } from 'vitest';
import type { FileFormat } from '../src/job/job.ts';
import { openPart } from '../src/target/part-writer.ts';
import { callsOf, pagesOf } from './real-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleet-parts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const calls = callsOf(120);
const pages = await pagesOf(calls);
const sent = Buffer.concat(pages.map((page) => page.ndjson()));
let files = 0;

async function write(format: FileFormat, some = pages, columns: readonly string[] | null = null) {
  files += 1;
  const part = await openPart(join(folder, `${files}.${format}`), { format, columns });
  for (const page of some) await part.put(page);
  const facts = await part.finish();
  return { facts, file: readFileSync(part.path) };
}

const parquet = (file: Buffer) => parquetReadObjects({ file: new Uint8Array(file).buffer });
const formats: FileFormat[] = ['parquet', 'ndjson.gz', 'ndjson', 'csv.gz'];

describe('a part', () => {
  test.each(formats)(
    'in %s has the size and the SHA-256 that it says, and the same bytes each time',
    async (format) => {
      const { facts, file } = await write(format);
      expect(facts).toEqual({ bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') });
      expect((await write(format)).facts).toEqual(facts);
    },
  );

  test('of JSON lines has the bytes that the server sent', async () => {
    expect((await write('ndjson')).file.equals(sent)).toBe(true);
    expect(gunzipSync((await write('ndjson.gz')).file).equals(sent)).toBe(true);
  });

  test('of CSV has a header and a line for each record', async () => {
    const lines = gunzipSync((await write('csv.gz', pages, ['sid', 'date_added'])).file)
      .toString()
      .split('\r\n');
    const expected = pages.flatMap(({ records }) => records.map((call) => `${call.sid},${call.date_added}`));
    expect(lines).toEqual(['sid,date_added', ...expected, '']);
  });

  test('of Parquet has the columns of the job and every record', async () => {
    const rows = await parquet((await write('parquet')).file);
    expect(rows.map(({ sid }) => sid)).toEqual(pages.flatMap(({ records }) => records.map(({ sid }) => sid)));
    expect(Object.keys(rows[0] ?? {})).toEqual(fields.map(({ name }) => name));
    const some = await parquet((await write('parquet', pages, ['sid', 'talk_minutes'])).file);
    expect(Object.keys(some[0] ?? {})).toEqual(['sid', 'talk_minutes']);
  });

  test('without records is a file that programs can read', async () => {
    expect((await write('ndjson', [])).file).toHaveLength(0);
    expect(gunzipSync((await write('ndjson.gz', [])).file)).toHaveLength(0);
    expect(gunzipSync((await write('csv.gz', [], ['sid'])).file).toString()).toBe('sid\r\n');
    expect(await parquet((await write('parquet', [])).file)).toEqual([]);
  });

  test('is never written over another file', async () => {
    const path = join(folder, 'taken.ndjson');
    const first = await openPart(path, { format: 'ndjson', columns: null });
    await expect(openPart(path, { format: 'ndjson', columns: null })).rejects.toMatchObject({
      code: 'EEXIST',
    });
    await first.abandon();
    await first.abandon();
  });

  test('that has failed cannot be finished', async () => {
    const part = await openPart(join(folder, 'failed.parquet'), { format: 'parquet', columns: null });
    const broken = new Error('broken page');
    const page = Object.defineProperty({ ...pages[0] }, 'records', {
      get() {
        throw broken;
      },
    });
    await expect(part.put(page as never)).rejects.toBe(broken);
    await expect(part.finish()).rejects.toBe(broken);
    await part.abandon();
  });
});
