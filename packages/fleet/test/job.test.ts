import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PlannedJob, readJob } from '../src/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'calls-job-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const good = {
  name: 'history',
  baseUrl: 'https://api.example.com',
  accounts: [
    { id: '101' },
    { id: '102', name: 'Second', credential: 'env:CALLS_102', requestsPerMinute: 60 },
  ],
  into: 'folder:out',
};

async function put(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const read = async (job: unknown) => readJob(await put('job.json', JSON.stringify(job)));

const accountsOf = ({ accounts }: PlannedJob) => [...accounts.values()];

/**
 * The message of a refusal, which is one line with a way out, and says nothing that was not said
 * before.
 */
async function refusal(job: unknown, secret = 'none'): Promise<string> {
  const error = await read(job).then(
    () => expect.unreachable('it was taken'),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: 'FleetError', code: 'job_invalid', isRetryable: false });
  expect(error.message).not.toContain(secret);
  expect(error.message).toContain('job.json');
  return error.message;
}

describe('readJob', () => {
  test('a job is what its file says, with every other setting filled in', async () => {
    const usual = await read(good);
    expect(usual).toMatchObject({
      name: 'history',
      version: 'v3',
      filter: '',
      from: null,
      until: null,
      into: 'folder:out',
      skip: false,
      every: null,
      lookback: 3 * 86_400_000,
      settle: 30 * 86_400_000,
    });
    expect(accountsOf(usual)).toMatchObject([
      { id: '101', name: '101', credential: 'file:101.json', requestsPerMinute: null },
      { id: '102', name: 'Second', credential: 'env:CALLS_102', requestsPerMinute: 60 },
    ]);
    const all = await read({
      ...good,
      filter: 'talk_minutes:[2 TO *]',
      from: '2024-01-01',
      until: '2025-12-31',
      requestsPerMinute: 100,
      skip: true,
      every: '1h',
      lookback: '1d',
      settle: '10d',
    });
    expect(all).toMatchObject({
      from: '2024-01-01 00:00:00',
      until: '2026-01-01 00:00:00',
      skip: true,
      every: 3_600_000,
      lookback: 86_400_000,
      settle: 864_000_000,
    });
    expect(accountsOf(all).map((account) => account.requestsPerMinute)).toEqual([100, 60]);
    const store = await read({ ...good, into: 'sqlite:calls.db', every: '10m' });
    expect(store).toMatchObject({ every: 600_000 });
  });

  test.each([
    ['JSON', 'accounts.json', '\uFEFF[{"id":"101"},{"id":"102"}]'],
    ['NDJSON', 'accounts.ndjson', '{"id":"101"}\r\n\n{"id":"102"}\n'],
  ])('accounts may be a file of %s next to it', async (_, name, text) => {
    await put(name, text);
    expect(accountsOf(await read({ ...good, accounts: name })).map(({ id }) => id)).toEqual([
      '101',
      '102',
    ]);
  });

  test.each<[unknown, string]>([
    [{ name: 'My job' }, 'name must be 1 to 40 of a-z, 0-9 and hyphens'],
    [{ name: undefined }, 'name is missing; it must be 1 to 40 of a-z'],
    [{ baseUrl: 'api.example.com' }, 'baseUrl must be the URL of the API, such as https://'],
    [{ baseUrl: 'https://api.example.com/v3' }, 'the version is a setting of its own'],
    [{ version: 'v4' }, 'version must be v2 or v3, not "v4"; did you mean v2?'],
    [{ evry: '1h' }, 'has an unknown name "evry"; did you mean every?'],
    [{ credentials: 'x' }, 'has an unknown name "credentials"; known names: name, baseUrl'],
    [
      { from: 'yesterday' },
      "from must be a date or a time, such as '2026-11-01' or '2026-11-01 08:30:00'",
    ],
    [{ from: '2024-02-30 00:00:00' }, 'from must be a date or a time'],
    [
      { from: '2024-01-01 00:00:00', until: '2024-01-01 00:00:00' },
      'from must be earlier than until',
    ],
    [{ filter: 'inc_gc:1' }, 'filter cannot be used: '],
    [
      { filter: 'date_added:[2024-01-01 00:00:00 TO *]' },
      'filter has a range of date_added; use from and until',
    ],
    [{ into: 'mysql://host/db' }, 'into must be postgres://user@host/db, sqlite:<file>'],
    [{ into: 'sqlite::memory:' }, 'into must be'],
    [{ into: 'sqlite:///calls.db' }, 'into must be'],
    [{ requestsPerMinute: 0 }, 'requestsPerMinute must be a whole number of at least 1, not 0'],
    [{ every: '10m' }, "every must be '1h' or longer"],
    [{ every: 'often' }, 'every must be a duration'],
    [{ accounts: [] }, 'accounts must name at least one account'],
    [{ accounts: 'nowhere.ndjson' }, 'job.json: accounts: nowhere.ndjson: there is no such file'],
    [{ accounts: [{ id: '../../etc' }] }, 'accounts[0].id must be 1 to 64 letters'],
    [{ accounts: [{ id: '..' }] }, 'accounts[0].id must be'],
    [{ accounts: [{ name: 'x' }] }, 'accounts[0].id is missing; it must be'],
    [{ accounts: ['101'] }, 'accounts[0] must be an object such as { "id": "101" }, not a string'],
    [
      { accounts: [{ id: '101' }, { id: '101' }] },
      'accounts[1] is account 101 a second time; remove one of the two',
    ],
    [
      { accounts: ['a', 'b'].map((id) => ({ id, credential: 'env:CALLS_A' })) },
      'accounts[1] has the credential of account a',
    ],
    [{ accounts: [{ id: '101', credential: 'file:../101.json' }] }, 'below the folder of keys'],
    [{ accounts: [{ id: '101', credential: 'file:/etc/101.json' }] }, 'below the folder of keys'],
    [{ accounts: [{ id: '101', credential: 'env:CALLS 101' }] }, 'credential must name a variable'],
    [{ accounts: [{ id: '101', requestsPerMinutes: 5 }] }, 'did you mean requestsPerMinute?'],
  ])('%j is refused: %s', async (change, words) => {
    expect(await refusal({ ...good, ...(change as object) })).toContain(words);
  });

  const secret = 'sK9zR4tYw7QpL2mN8vXc3bHj6fDg1aSe';
  test.each<[string, unknown]>([
    ['a setting for it', { secretKey: secret }],
    ['one with another name', { api_token: secret }],
    ['one of an account', { accounts: [{ id: '101', accessKey: secret, secretKey: secret }] }],
    ['the place of its reference', { accounts: [{ id: '101', credential: secret }] }],
    ['a reference to a file', { accounts: [{ id: '101', credential: `file:${secret}` }] }],
    ['the name of an account', { accounts: [{ id: '101', name: secret }] }],
    ['the URL of the API', { baseUrl: `https://${secret}:x@api.example.com` }],
    ['the URL of the target', { into: `postgres://me:${secret}@host/db` }],
    ['a parameter of the target', { into: `s3://bucket/prefix?secret_access_key=${secret}` }],
    ['a filter', { filter: `Bearer ${secret}` }],
    ['a time', { from: secret }],
    ['the name of a setting', { [secret]: 1 }],
  ])('a key in clear is refused and not repeated: %s', async (_, change) => {
    expect(await refusal({ ...good, ...(change as object) }, secret)).toMatch(
      /clear|must be a (?:date|reference)/,
    );
  });

  test('what is wrong in a file of accounts is named by its line', async () => {
    await put('accounts.ndjson', '{"id":"101"}\n{"id":"102","secretKey":"sK9zR4tYw7"}\n');
    await expect(read({ ...good, accounts: 'accounts.ndjson' })).rejects.toThrow(
      /^accounts.ndjson: line 2: .*in clear/,
    );
    await put('accounts.ndjson', '{"id":"101"}\n{"id":sK9zR4tYw7}\n');
    const error = await read({ ...good, accounts: 'accounts.ndjson' }).catch((thrown) => thrown);
    expect(error.message).toBe(
      'accounts.ndjson: line 2 is not JSON: line 1, column 7 should have a value, such as a string in double quotes',
    );
  });

  test('a file that is not there or not JSON is refused', async () => {
    await expect(readJob(join(folder, 'nowhere.json'))).rejects.toMatchObject({
      code: 'job_invalid',
    });
    const broken = await put('job.json', '{ "name": history }');
    await expect(readJob(broken)).rejects.toThrow(/not JSON: line 1, column 11/);
    await expect(read([])).rejects.toThrow('job.json must be an object, not a list');
  });
});
