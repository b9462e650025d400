import { channel } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import {
  apiKeys,
  bearerToken,
  CallsError,
  type Client,
  type ClientOptions,
  fields,
  redact,
} from '@call-attribution/core';
import { type ApiFault, faults } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { collect, fixtureWireCalls, serve } from './support.ts';

/** What must never be seen: for each field a value nobody else has, and the keys. */
const canaries: Record<string, string> = Object.fromEntries(
  fields.map(({ name }) => [name, `Kanarie-${name}-7781`]),
);
Object.assign(canaries, {
  ani: '5555550177',
  dnis: '+1 (555) 555-0188',
  phone_number: '555-555-0199',
  first_name: 'Kanaria',
  last_name: 'Vogelsang',
  street_address: '4711 Zwitscher Street',
  city: 'Piepenburg',
  zipcode: '98765',
  ip_address: '203.0.113.77',
  recording: 'https://recordings.example.com/kanarie/7781.mp3?sig=abcdef',
  last_touch: 'https://shop.example.com/kontakt?name=kanaria&gclid=Cj0KCQ',
});
const keys = ['KANARIE-ACCESS-1', 'KANARIE-SECRET-2', 'KANARIE-TOKEN-3'] as const;
const forbidden = [
  ...Object.values(canaries),
  ...keys,
  'kanarie/7781',
  'kontakt?name',
  '203.0.113',
  'Zwitscher',
];

const [base] = fixtureWireCalls(1, 'v3');
const record = { ...base, ...canaries } as Record<string, unknown>;
const list = JSON.stringify([record]);
const values = Object.values(canaries).join(', ');
const said = `no call from ${canaries.ani} (${canaries.first_name} ${canaries.last_name}, ${canaries.street_address}, ${canaries.city} ${canaries.zipcode}) at ${canaries.ip_address}, see ${canaries.recording}`;
const echo = `access_key=${keys[0]} secret_key: "${keys[1]}" Authorization: Bearer ${keys[2]}, key ${keys[0]} of ${keys[1]} and ${keys[2]}`;
const page = `<!doctype html><html><head><title>${canaries.first_name} ${canaries.ani}</title></head><body>${values} ${echo}</body></html>`;
const xml = `<response><result>failed</result><result_description>${said} ${echo}</result_description><data>${values}</data></response>`;

const json = (status: number, body: string, headers = {}): ApiFault =>
  faults.replace(status, body, headers);
const typed = (status: number, type: string, body: string): ApiFault =>
  json(status, body, { 'content-type': type });

const paths: [string, ApiFault][] = [
  ...[200, 400, 401, 429, 500].flatMap((status): [string, ApiFault][] => [
    [`${status} with a record`, json(status, JSON.stringify(record))],
    [
      `${status} with an error next to a record`,
      json(status, JSON.stringify({ error: 'no', call: record, calls: [record] })),
    ],
    [
      `${status} with an error in prose`,
      json(status, JSON.stringify({ error: said, message: [said], detail: { reason: echo } })),
    ],
    [
      `${status} with an array of errors`,
      json(status, JSON.stringify([{ message: said, code: 5555550177 }, record])),
    ],
    [`${status} with a cut record`, json(status, list.slice(0, -40))],
    [`${status} with HTML`, typed(status, 'text/html', page)],
    [`${status} with HTML called JSON`, json(status, page)],
    [`${status} with XML`, typed(status, 'text/xml', xml)],
    [`${status} with CSV`, typed(status, 'text/csv', `${Object.keys(canaries)}\n${values}`)],
    [`${status} with prose`, typed(status, 'text/plain', `${said} ${echo}`)],
  ]),
  ['a content type that tells', typed(200, `text/${canaries.first_name};x=${canaries.ani}`, list)],
  ['a content type that is a number', typed(200, `x-call/${canaries.ani}`, list)],
  ['a content type that is a key', typed(200, `${keys[0]}/${keys[1]}+${keys[2]}`, list)],
  [
    'a status text that tells',
    { send: (_, response) => void response.writeHead(500, echo).end(list) },
  ],
  [
    'a redirect that tells',
    { redirect: `https://elsewhere.example/${canaries.ani}?access_key=${keys[0]}&t=${keys[2]}` },
  ],
  ['a request id that tells', json(500, '{}', { 'x-request-id': `${keys[1]}` })],
  [
    'an unknown packing that tells',
    json(200, list, { 'content-encoding': `${canaries.first_name}` }),
  ],
  [
    'a range that tells',
    json(200, list, { 'content-range': `${canaries.ani}-${canaries.ani}/${canaries.ani}` }),
  ],
  [
    'broken UTF-8',
    {
      change: (answer) => ({
        ...answer,
        body: Buffer.concat([Buffer.from(list), Buffer.from([0xff])]),
      }),
    },
  ],
  ['a cut connection', { ...json(200, list), cut: 0.9 }],
  [
    'a record under unknown names',
    json(200, JSON.stringify([{ ...base, [String(canaries.ani)]: 1, [values.slice(0, 60)]: 2 }])),
  ],
  ['an array of texts', json(200, JSON.stringify(Object.values(canaries)))],
  ['more rows than asked', json(200, JSON.stringify(Array(300).fill(record)))],
  ['no HTTP', { send: (_, response) => void response.socket?.end(`${said}\r\n${echo}\r\n`) }],
];

const reads: [string, (client: Client) => Promise<unknown>][] = [
  ['listCalls', (client) => client.listCalls()],
  ['fetchPage', async (client) => (await client.fetchPage()).items().map((item) => item.read())],
  ['calls', (client) => collect(client.listCalls())],
  ['getCall', (client) => client.getCall('S1-0000001')],
  ['countCalls', (client) => client.countCalls()],
  ['listSmsNumbers', (client) => client.listSmsNumbers()],
];

/** Everything about an error that could end up in a log. */
function everything(error: unknown): string {
  const { stack, cause } = error as Error;
  return [
    String(error),
    stack,
    JSON.stringify(error),
    inspect(error, { depth: 10, showHidden: true }),
    inspect(cause),
  ].join('\n');
}

function expectClean(text: string): void {
  const lower = text.toLowerCase();
  expect(forbidden.filter((canary) => lower.includes(canary.toLowerCase()))).toEqual([]);
}

describe.each([
  ['keys', { auth: apiKeys(keys[0], keys[1]), records: 'strict' }],
  [
    'a bearer token',
    { auth: bearerToken(keys[2]), legacyAuth: apiKeys(keys[0], keys[1]), version: 'v2' },
  ],
] satisfies [string, Partial<ClientOptions>][])(
  'with %s, nothing of a call or a key is in errors, reports and events',
  (_, auth) => {
    // What the keys are changes nothing in how an error status is read: one row of those is enough
    // for the second kind.
    const rows = paths.filter(([name]) => 'records' in auth || !/^(400|429|500)/.test(name));
    test.each(rows)('%s', async (_name, fault) => {
      const seen: string[] = [];
      const listen = (event: unknown) => seen.push(inspect(event, { depth: 10, showHidden: true }));
      const names = ['request', 'attempt', 'retry', 'wait', 'page'].map((name) =>
        channel(`call-attribution:${name}`),
      );
      for (const one of names) one.subscribe(listen);
      let errors = 0;
      try {
        const onReport = (report: unknown) => seen.push(inspect(report));
        const options = {
          ...auth,
          onReport,
          retry: { attempts: 2, baseDelay: 0 },
          timeout: { total: 1000 },
        };
        const { client } = await serve({ faults: () => fault }, options);
        for (const [, read] of reads) {
          const error = await read(client).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          if (error === undefined) continue;
          errors += 1;
          expect(error).toBeInstanceOf(CallsError);
          seen.push(everything(error));
        }
      } finally {
        for (const one of names) one.unsubscribe(listen);
      }

      expect(errors).toBeGreaterThan(0);
      expectClean(seen.join('\n'));
    });
  },
);

describe('a broken field is named without its value', () => {
  test.each(fields.filter(({ v3 }) => v3 !== null).map(({ name }) => name))('%s', async (name) => {
    for (const broken of [
      [canaries[name]],
      { x: canaries[name] },
      ...(typeof base?.[name as never] === 'number' ? [canaries[name]] : []),
    ]) {
      const body = JSON.stringify([{ ...base, [name]: broken }]);
      const { client } = await serve(
        { faults: () => faults.replace(200, body) },
        { records: 'strict' },
      );
      const error = await client.listCalls().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'invalid_record' });
      expect((error as CallsError).message).toContain(`${name}: expected`);
      expectClean(everything(error));
    }
  });
});

describe('redact', () => {
  test.each([
    ['call 555-555-0100 now', 'call [number] now'],
    ['+1 (555) 555-0100', '[number]'],
    ['5555550100', '[number]'],
    ['at 192.0.2.17', 'at [ip]'],
    ['at 12:30:05', 'at 12:30:05'],
    ['date_added:[2024-01-01 00:00:00 TO *]', 'date_added:[2024-01-01 00:00:00 TO *]'],
    ['write to a.b@example.com', 'write to [email]'],
    ['https://u:p@rec.example.com/a/b?c=d', 'https://rec.example.com/…'],
    ['https://api.example.com', 'https://api.example.com'],
    ['secret_access_key=abc&x=1', 'secret_access_key=[secret]&x=1'],
    ['"access_key":"abc"', '"access_key":"[secret]"'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer [secret]'],
    ['rows 1-250 of 1800', 'rows 1-250 of 1800'],
    // Whatever separates the digits.
    ...['-', '.', ' ', '/', '_', '*', ':', ' • ', ' ---- ', ') ', '|', '~', ','].map(
      (gap): [string, string] => [`call 303${gap}555${gap}0120 now`, 'call [number] now'],
    ),
    [
      'from 2026-11-20 10:30:00 to 2026-11-21 at 12:30',
      'from 2026-11-20 10:30:00 to 2026-11-21 at 12:30',
    ],
    ['2026-11-20 212-555-0100', '2026-11-20 [number]'],
    // Keys have letters and digits, and are long.
    ['key 0123456789abcdef0123456789abcdef of it', 'key [secret] of it'],
    ['eyJhbGciOiJIUzI1NiJ9-eyJzdWIiOiIxMjM0NTY3', '[secret]'],
    [
      'vt_ads_producttargetid and a_rather_long_name_without_any_digit',
      'vt_ads_producttargetid and a_rather_long_name_without_any_digit',
    ],
    // Servers and versions stay readable.
    ['https://127.0.0.1:18446', 'https://127.0.0.1:18446'],
    ['http://127.0.0.1:18446/v3/a?b', 'http://127.0.0.1:18446/…'],
    ['http://203.0.113.77:80/a', 'http://[ip]:80/…'],
    ['at dispatch (undici@7.30)', 'at dispatch (undici@7.30)'],
    // However it is written.
    ['call ３１２５５５０１９９ now', 'call [number] now'],
    ['٣١٢ ٥٥٥ ٠١٩٩', '[number]'],
    ['ring %2B1%20312%20555%200199', 'ring [number]'],
    ['write to a%40b.example', 'write to [email]'],
    ['write to a%2540b.example, 100% sure', 'write to [email], 100% sure'],
    ['write to a＠b.example', 'write to [email]'],
    ['secret_key%3Dabc', 'secret_key=[secret]'],
    ['x%0Acall 555-555-0100', 'x call [number]'],
    ['from 2001:db8::1 and [2001:db8:0:1:2:3:4:5]:443', 'from [ip] and [[ip]]:443'],
    ['at ::1, ::1:3000 and 10:30:05', 'at ::1, ::1:3000 and 10:30:05'],
    ['50 % von 100 € – „fünf“ %20 ½', '50 % von 100 € – „fünf“ %20 ½'],
  ])('%s -> %s', (text, clean) => {
    expect(redact(text)).toBe(clean);
    expect(redact(clean)).toBe(clean);
  });
});

test.each(['a.', 'a', '1 ', 'a-b:', '::', 'token=', '("', 'é'])(
  'long strings of %j do no harm',
  (piece) => {
    expect(redact(piece.repeat(50_000)).length).toBeGreaterThan(0);
  },
);

test('the excerpt of a body is never cut within a key', async () => {
  const key = 'quitesecretkey';
  for (let pad = 370; pad < 402; pad += 1) {
    const body = JSON.stringify({ error: `${'so '.repeat(pad / 3)}${'x'.repeat(pad % 3)} ${key}` });
    const { client } = await serve(
      { faults: () => faults.replace(400, body) },
      { auth: apiKeys(key, key) },
    );
    const error = (await client.listCalls().catch((thrown: unknown) => thrown)) as CallsError;
    expect(error.body).not.toContain('quite');
  }
});

test('a key the server echoes in a failure is in neither message nor stack', async () => {
  const key = 'quitesecretkey';
  const { client } = await serve(
    { faults: () => ({ smsFailed: `no account for ${key}` }) },
    { auth: apiKeys(key, key) },
  );
  const error = (await client.listSmsNumbers().catch((thrown: unknown) => thrown)) as CallsError;
  expect(error.summary).toBe('The SMS listing failed (failed: no account for [secret]).');
  expect(everything(error)).not.toContain(key);
});

test.each(['ani:5555550177', 'talk_minutes:[1 TO *],ani:5555550177'])(
  'the mistake in %s is said without the number',
  async (filter) => {
    const { client, server } = await serve();
    const thrown = await client.listCalls({ filter }).catch((error: unknown) => error);
    expect(everything(thrown as CallsError)).not.toContain('5555550177');
    expect(String(thrown)).toContain('found "ani"');
    expect(server.requests).toEqual([]);
  },
);

test('a filter on a field that may name a caller is not shown', async () => {
  for (const filter of [
    'ani:[5555550177 TO *]',
    {
      clauses: [
        {
          kind: 'range',
          field: 'ani',
          lower: { text: '5555550177', inclusive: true },
          upper: null,
        },
      ],
    },
  ] as const)
    for (const ask of ['listCalls', 'countCalls', 'fetchPage'] as const) {
      const { client, server } = await serve({ faults: () => ({ status: 400 }) });
      const error = (await client[ask]({ filter }).catch(
        (thrown: unknown) => thrown,
      )) as CallsError;
      expect(server.requests[0]?.query.get('q')).toContain('5555550177');
      expect(everything(error)).not.toContain('5555550177');
      expect(error.url).toContain('q=%E2%80%A6');
    }
});

test('the first word of what a server says is no name, also where the space after it is encoded', async () => {
  const body = JSON.stringify({ error: 'Kanaria%20Vogelsang is not allowed.' });
  const { client } = await serve({ faults: () => faults.replace(400, body) });
  const error = (await client.listCalls().catch((thrown: unknown) => thrown)) as CallsError;
  expect(error.message).not.toMatch(/Kanaria|Vogelsang/);
  expect(error.message).toContain('is not allowed');
});

test.each(['<detail ', '<title', '<title ', '<detail', '<message \n'])(
  'a body of %j again and again is read in time that grows with its length',
  async (piece) => {
    const cpuOf = async (bytes: number) => {
      const text = `${piece.startsWith('<title') ? '<html>' : ''}${piece.repeat(bytes / piece.length)}`;
      const { client } = await serve({ faults: () => faults.replace(400, text) });
      const before = process.cpuUsage();
      await client.listCalls().catch(() => undefined);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };

    await cpuOf(4_000);
    const quarter = await cpuOf(16_000);

    // Four times as long; the rest is for the collector and for what runs beside.
    expect(await cpuOf(64_000)).toBeLessThan(quarter * 8 + 200);
  },
);

test('an error keeps the part of the body that helps', async () => {
  const body = JSON.stringify({
    error: 'rows must be a number from 1 to 1000; found "many" at /v3/user/bid-management',
    code: 'INVALID_PARAMETER',
  });
  const { client } = await serve({ faults: () => faults.replace(400, body) });
  const error = (await client.listCalls().catch((thrown: unknown) => thrown)) as CallsError;
  expect(error.body).toBe(
    '[json object, 118 bytes: INVALID_PARAMETER: rows must be a number from [number] to [number]; found "many" at /v3/user/bid-management]',
  );
});
