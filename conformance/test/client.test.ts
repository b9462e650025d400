import {
  apiKeys,
  bearerToken,
  type Client,
  type ClientOptions,
  createClient,
  toCall,
} from '@call-attribution/core';
import { testKeys } from '@call-attribution/sandbox';
import type { ServiceOptions } from '@call-attribution/service';
import { afterAll, describe, expect, test } from 'vitest';
import { calls, foreign, openWorld } from './world.ts';

const { accessKey, secretKey, bearerToken: token } = testKeys('101');
const keys = apiKeys(accessKey, secretKey);

/** What went over the wire, as the service saw it. */
interface Seen {
  method: string;
  url: string;
  headers: Readonly<Record<string, unknown>>;
}

async function openPair(
  options: Omit<ServiceOptions, 'store'> = {},
  more: Partial<ClientOptions> = {},
) {
  const seen: Seen[] = [];
  const world = await openWorld({
    ...options,
    intercept(request, _response, next) {
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
      return next();
    },
  });
  const base = { baseUrl: world.url, legacyBaseUrl: world.url, records: 'strict' as const };
  const clients: Client[] = [];

  const client = (own: Partial<ClientOptions>) => {
    const made = createClient({ ...base, ...more, ...own });
    clients.push(made);
    return made;
  };

  afterAll(() => Promise.all(clients.map((made) => made.close())));
  return {
    ...world,
    seen,
    client,
    v3: client({ auth: keys }),
    v2: client({ auth: bearerToken(token), version: 'v2', legacyAuth: keys }),
  };
}

const { v2, v3, seen, client } = await openPair();
const all = 'inc_gce:1';
const sids = (keep: (call: (typeof calls)[number]) => boolean = () => true) =>
  calls.filter(keep).map(({ sid }) => sid);
const sidsOfList = async (filter: string, from = v2) =>
  (await from.listCalls({ filter, rows: 100 })).records.map(({ sid }) => sid);

describe('the client', () => {
  test('[R01][R03][R42][R45][R48] reads every call exactly once over pages', async () => {
    const found: string[] = [];
    for await (const page of v3.listCalls({ filter: all, rows: 13 }).pages())
      found.push(...page.records.map(({ sid }) => sid));
    expect(found).toEqual(sids());
  });

  test('[R43] requests pages of the given size', async () => {
    const page = await v3.listCalls({ filter: all, rows: 2, page: 1 });
    expect([page.range, page.records.map(({ sid }) => sid)]).toEqual([
      { first: 3, last: 4, total: 60 },
      sids().slice(2, 4),
    ]);
  });

  test('[R10][R11][R12][R13][R14][R18][R21][R24][R25][R28][R31][R32] reads v3 records strictly and returns them unchanged', async () => {
    const page = await v3.listCalls({ filter: all, rows: 100 });
    const v3Names = Object.keys(page.records[0] as object);
    for (const [i, call] of page.records.entries()) {
      const given = calls[i] as unknown as Record<string, unknown>;
      expect(call).toEqual(Object.fromEntries(v3Names.map((name) => [name, given[name] ?? null])));
    }
  });

  test('[R16][R17][R101][R102][R103][R104][R105] reads v2 records under the same names', async () => {
    const [newer] = (await v3.listCalls({ filter: all, rows: 1 })).records;
    const [older] = (await v2.listCalls({ rows: 1 })).records;
    expect(older?.first_touch).toBe(newer?.first_touch);
    expect(older?.ppc_campaign_id).toBe(newer?.ppc_campaign_id);
    expect(older).toHaveProperty('super_id');
    expect(newer).not.toHaveProperty('super_id');
    expect(older).not.toHaveProperty('ppc_status');
    expect(newer).toHaveProperty('ppc_status');
  });

  test('[R15] returns times as they were sent', async () => {
    expect((await v3.listCalls({ filter: all, rows: 1 })).records[0]?.date_added).toBe(
      calls[0]?.date_added,
    );
  });

  test('[R04][R05][R40][R41][R44][R47][R49][R60][R100] sends GET without a body, to the path of its version, with each parameter once', async () => {
    seen.length = 0;
    await v3.listCalls();
    await v2.listCalls({ filter: 'talk_minutes:[1 TO *]', rows: 5, page: 1 });
    await v2.getCall(sids()[0] as string);
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
    expect(seen.map(({ url }) => url.split('?')[0])).toEqual([
      '/v3/user/bid-management',
      '/v2/user/bid-management',
      `/v2/user/bid-management/${sids()[0]}`,
    ]);

    for (const { url, headers } of seen) {
      const names = [...new URL(url, 'http://x').searchParams.keys()];
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(['q', 'rows', 'start']).toContain(name);
      expect(headers['content-length'] ?? '0').toBe('0');
    }
  });

  test('[R46][R98] accepts a list without matches and a page past the end', async () => {
    const none = await v3.listCalls({ filter: 'date_added:[* TO 1999-01-01 00:00:00]' });
    expect([none.records, none.range?.total]).toEqual([[], 0]);
    const past = await v3.listCalls({ filter: all, rows: 10, page: 50 });
    expect([past.records, past.range?.total]).toEqual([[], 60]);
  });

  test('[R50][R51][R52][R53][R54][R55][R57][R58][R59][R62] sends filters that the service understands', async () => {
    const low = calls[10]?.date_added as string;
    const high = calls[40]?.date_added as string;
    expect(await sidsOfList(`date_added:[${low} TO ${high}}`)).toEqual(
      sids((c) => c.date_added >= low && c.date_added < high),
    );
    expect(await sidsOfList(`date_added:{${low} TO ${high}],talk_minutes:[5 TO *]`)).toEqual(
      sids((c) => c.date_added > low && c.date_added <= high && Number(c.talk_minutes) >= 5),
    );
    expect(await sidsOfList(`date_added:[${low} TO ${high}},inc_gce:1`, v3)).toEqual(
      sids((c) => c.date_added >= low && c.date_added < high),
    );
  });

  test('[R56] returns calls through call extensions in v3 only with inc_gce:1', async () => {
    expect(await sidsOfList('', v3)).toEqual(sids((c) => c.channel === 'Tracker'));
    expect(await sidsOfList(all, v3)).toEqual(sids());
  });

  test('[R61] reports a field that the service cannot filter by, and does not send an invalid filter', async () => {
    await expect(v3.listCalls({ filter: 'ani:[1 TO 2]' })).rejects.toMatchObject({
      code: 'bad_request',
    });
    seen.length = 0;
    await expect(
      v3.listCalls({ filter: 'date_added:[2024-02-30 00:00:00 TO *]' }),
    ).rejects.toThrow();
    expect(seen).toEqual([]);
  });

  test.each(['object', 'array'] as const)(
    '[R02][R70][R71][R72] finds a call by its sid when it is sent as %s',
    async (singleAs) => {
      const pair = await openPair({ singleAs });
      const call = await pair.v3.getCall(sids()[3] as string);
      expect(call.date_added).toBe(calls[3]?.date_added);
      await expect(pair.v3.getCall('nope')).rejects.toMatchObject({ code: 'not_found' });
    },
  );

  test.each(['object', 'number', 'text', 'array', 'header'] as const)(
    '[R73][R74] reads a count sent as %s',
    async (countAs) => {
      const pair = await openPair({ countAs });
      expect((await pair.v2.countCalls()).total).toBe(60);
      expect((await pair.v2.countCalls({ filter: 'talk_minutes:[5 TO *]' })).total).toBe(
        sids((c) => Number(c.talk_minutes) >= 5).length,
      );
    },
  );

  test('[R75] counts in v3 by Content-Range, and reports that it did', async () => {
    expect(await v3.countCalls({ filter: all })).toEqual({ total: 60, source: 'content-range' });
  });

  test.each(['GET', 'POST'] as const)(
    '[R80][R81][R82][R83][R84][R85][R86][R87] reads the SMS listing by %s',
    async (method) => {
      expect(await v2.listSmsNumbers({ method })).toEqual([
        { number: '5555550100', smsEnabled: true, url: 'https://listener.example/sms?a=1&b="2"' },
        { number: '5555550101', smsEnabled: false, url: 'https://listener.example/' },
      ]);
      const wrong = client({ auth: apiKeys(accessKey, 'wrong') });
      await expect(wrong.listSmsNumbers({ method })).rejects.toMatchObject({ code: 'error_body' });
    },
  );

  test('[R90][R91][R92][R93] sends keys or a token to v3 and a token to v2, and sees its own account only', async () => {
    expect(() => client({ version: 'v2', auth: keys })).toThrow(/v2/);
    expect(
      (await client({ auth: bearerToken(token) }).listCalls({ rows: 1 })).records,
    ).toHaveLength(1);
    const other = testKeys('102');
    const theirs = await client({ auth: apiKeys(other.accessKey, other.secretKey) }).listCalls({
      filter: all,
    });
    expect(theirs.records.map(({ sid }) => sid)).toEqual([foreign.sid]);
  });

  test('[R94][R95] reports what was refused, without a key in the message', async () => {
    const wrong = client({ auth: apiKeys(accessKey, 'wrong-secret') });
    const error = await wrong.listCalls().then(
      () => null,
      (thrown: Error & Record<string, unknown>) => thrown,
    );
    expect(error).toMatchObject({
      code: 'unauthorized',
      status: 401,
      requestId: expect.any(String),
    });
    const shown = JSON.stringify([error?.message, error?.stack, { ...error }]);
    for (const secret of ['wrong-secret', accessKey]) expect(shown).not.toContain(secret);
  });

  test('[R96] waits as long as a 429 response says', async () => {
    const pair = await openPair({ rateLimit: { requests: 1, per: '1s' } });
    await pair.v3.listCalls({ rows: 1 });
    const page = await pair.v3.listCalls({ rows: 1 });
    expect([page.records.length, page.meta.attempts > 1]).toEqual([1, true]);
  });

  test('[R97] notices fewer rows than requested and still reads every call', async () => {
    const pair = await openPair({ maxRows: 10, rowsOver: 'clamp' });
    const found: string[] = [];
    for await (const { sid } of pair.v3.listCalls({ filter: all, rows: 25 })) found.push(sid);
    expect(found).toEqual(sids());
  });

  test('[R99] requests compressed responses and reads them', async () => {
    seen.length = 0;
    await v3.listCalls({ filter: all, rows: 60 });
    expect(seen[0]?.headers['accept-encoding']).toMatch(/gzip/);
  });

  test('[R106] reads other names of the same fields', () => {
    const [call] = calls;
    const { first_touch, ppc_campaign_id, ...rest } = call as unknown as Record<string, unknown>;
    const read = toCall(
      { ...rest, baseuri: first_touch, adwords_campaign_id: ppc_campaign_id },
      'v2',
    );
    expect([read.first_touch, read.ppc_campaign_id]).toEqual([first_touch, ppc_campaign_id]);
  });
});
