import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, afterEach, expect, test } from 'vitest';
import {
  type ConversionRules,
  changesToSend,
  conversions,
  openLedger,
  sheetFormats,
} from '../../src/index.ts';
import {
  createMicrosoftAds,
  PushError,
  pushConversions,
  readMicrosoftCredentials,
} from '../../src/push/index.ts';

// The elements that the reference of Microsoft lists, with the form of each.
const text = (value: unknown): boolean => typeof value === 'string' && value !== '';
const utc = (value: unknown): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(value));
const amount = (value: unknown): boolean => typeof value === 'number' && value >= 0;
const currency = (value: unknown): boolean => /^[A-Z]{3}$/.test(String(value));
const identity = { MicrosoftClickId: text, ConversionName: text, ConversionTime: utc };
const elements = {
  OfflineConversions: { ...identity, ConversionValue: amount, ConversionCurrencyCode: currency },
  OfflineConversionAdjustments: {
    ...identity,
    AdjustmentType: (value: unknown) => value === 'Restate' || value === 'Retract',
    AdjustmentTime: utc,
    AdjustmentValue: amount,
    AdjustmentCurrencyCode: currency,
  },
} as const;

const folder = mkdtempSync(join(tmpdir(), 'microsoft-'));
const file = join(folder, 'microsoft.json');
const taken: Record<string, unknown>[] = [];
const refused = new Set<string>();
let nextStatus = 200;
let tokens = 0;

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;

  const reply = (status: number, json: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };

  if (request.url === '/common/oauth2/v2.0/token') {
    const form = new URLSearchParams(body);
    if (form.get('refresh_token') !== `refresh-${tokens}` || form.get('client_id') !== 'client-1')
      return reply(400, { error: 'invalid_grant' });
    tokens += 1;
    const grant = { access_token: `token-${tokens}`, refresh_token: `refresh-${tokens}` };
    return reply(200, { ...grant, expires_in: 3600 });
  }

  const status = nextStatus;
  nextStatus = 200;
  if (status !== 200)
    return reply(status, { Errors: [{ ErrorCode: 'AuthenticationTokenExpired', Message: 'x' }] });
  const { authorization, developertoken, customerid, customeraccountid } = request.headers;
  expect([authorization, developertoken, customerid, customeraccountid]).toEqual([
    `Bearer token-${tokens}`,
    'dev-1',
    '11',
    '22',
  ]);
  const operation = /^\/CampaignManagement\/v13\/(\w+)\/Apply$/.exec(
    request.url ?? '',
  )?.[1] as keyof typeof elements;
  const list = (JSON.parse(body) as Record<string, Record<string, unknown>[]>)[operation] ?? [];
  expect(list.length).toBeGreaterThan(0);
  expect(list.length).toBeLessThanOrEqual(1000);
  const known: Readonly<Record<string, (value: unknown) => boolean>> = elements[operation];
  for (const item of list) {
    for (const [name, value] of Object.entries(item))
      expect([name, known[name]?.(value)]).toEqual([name, true]);
    for (const name of Object.keys(identity)) expect(Object.keys(item)).toContain(name);
  }

  const invalid = {
    ErrorCode: 'OfflineConversionMicrosoftClickIdInvalid',
    FieldPath: 'MicrosoftClickId',
  };
  const PartialErrors = list.flatMap((item, Index) =>
    refused.has(String(item.MicrosoftClickId)) ? [{ Index, Message: 'no', ...invalid }] : [],
  );
  taken.push(...list.filter((item) => !refused.has(String(item.MicrosoftClickId))));
  return reply(200, { PartialErrors });
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

afterAll(async () => {
  await new Promise((done) => server.close(done));
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  taken.length = 0;
  refused.clear();
});

const now = Date.UTC(2026, 10, 21);
const format = sheetFormats['microsoft-ads'];
const click = (number: number): string =>
  `f894f652ea334e739002f7167ab8${String(number).padStart(4, '0')}`;
const call = (number: number, more: object = {}): Call => {
  const first_touch = `https://a.example/?msclkid=${click(number)}`;
  return callWith({ sid: String(number), talk_minutes: '4.0', first_touch, ...more });
};
const rules: ConversionRules = {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  now,
  value: (one) => Number(one.talk_minutes) * 10,
  currency: 'USD',
};

async function run(...calls: Call[]) {
  const credentials = await readMicrosoftCredentials(file);
  const target = createMicrosoftAds({ credentials, endpoint: url });
  const ledger = await openLedger(join(folder, 'ledger'));
  try {
    const found = conversions(calls, rules, format, ledger.delivered('microsoft'));
    const changes = await changesToSend(found);
    const options = { ledger, destination: 'microsoft', clock: { now: () => now } };
    return await pushConversions(target, changes, options);
  } finally {
    await ledger.close();
  }
}

const customer = { customerId: '11', accountId: '22' };
const credentials = {
  developerToken: 'dev-1',
  clientId: 'client-1',
  refreshToken: 'refresh-0',
  ...customer,
};

test('it applies conversions, corrects them later, and names the calls that are refused', async () => {
  writeFileSync(file, JSON.stringify(credentials));
  refused.add(click(3));
  const first = await run(call(1), call(2), call(3));
  expect(first.sent).toEqual({ add: 2, restate: 0, retract: 0 });
  expect(first.refused).toEqual([
    { sid: '3', field: 'MicrosoftClickId', reason: 'OfflineConversionMicrosoftClickIdInvalid' },
  ]);
  expect(taken[0]).toEqual({
    MicrosoftClickId: click(1),
    ConversionName: 'Phone lead',
    ConversionTime: '2026-11-18T19:03:00Z',
    ConversionValue: 40,
    ConversionCurrencyCode: 'USD',
  });
  taken.length = 0;
  const second = await run(call(1, { talk_minutes: '9.0' }), call(2, { talk_minutes: '0.0' }));
  expect(second.sent).toEqual({ add: 0, restate: 1, retract: 1 });
  expect(taken).toMatchObject([
    {
      MicrosoftClickId: click(1),
      AdjustmentType: 'Restate',
      AdjustmentValue: 90,
      ConversionTime: '2026-11-18T19:03:00Z',
    },
    { MicrosoftClickId: click(2), AdjustmentType: 'Retract' },
  ]);
  expect((await run(call(1, { talk_minutes: '9.0' }))).sent).toEqual({
    add: 0,
    restate: 0,
    retract: 0,
  });
});

test('it keeps the refresh token that replaced the one of the file, for its owner only', async () => {
  writeFileSync(file, JSON.stringify({ ...credentials, refreshToken: `refresh-${tokens}` }));
  await run(call(5));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    refreshToken: `refresh-${tokens}`,
    clientId: 'client-1',
  });
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('it takes a new token when the old one has expired, and stops when there is none', async () => {
  nextStatus = 401;
  const before = tokens;
  expect((await run(call(6))).sent.add).toBe(1);
  expect(tokens).toBe(before + 2);
  writeFileSync(file, JSON.stringify({ ...credentials, refreshToken: 'gone' }));
  const error = await run(call(7)).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(PushError);
  expect((error as PushError).hint).toBe(
    'the credentials have expired or were revoked; create new ones',
  );
});

test('it cannot only check, and a file without a field is refused', async () => {
  writeFileSync(file, JSON.stringify({ ...credentials, customerId: '' }));
  await expect(readMicrosoftCredentials(file)).rejects.toThrow('customerId must not be empty');
  const { accountId: _, ...rest } = credentials;
  writeFileSync(file, JSON.stringify(rest));
  await expect(readMicrosoftCredentials(file)).rejects.toThrow('accountId is missing');
  writeFileSync(file, 'null');
  await expect(readMicrosoftCredentials(file)).rejects.toThrow('must be an object, not null');
  writeFileSync(file, JSON.stringify(credentials));
  const target = createMicrosoftAds({
    credentials: await readMicrosoftCredentials(file),
    endpoint: url,
  });
  await expect(target.send([], { validateOnly: true, now, numbers: new Map() })).rejects.toThrow(
    'Microsoft Advertising has none',
  );
});
