import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import type { Environment } from '@call-attribution/core/settings';
import { createManualClock } from '@call-attribution/core/testing';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Change,
  type ConsentRules,
  type ConversionRules,
  changesToSend,
  conversions,
  createTally,
  type LedgerEntry,
  openLedger,
} from '../../src/index.ts';
import {
  createDataManager,
  dataManagerAccepts,
  findGoogleCredentials,
  PushError,
  pushConversions,
} from '../../src/push/index.ts';
import { type DataManagerEvent, type GoogleStub, keys, startGoogleStub } from './google-stub.ts';

let stub: GoogleStub;
const folder = mkdtempSync(join(tmpdir(), 'push-'));
const now = Date.UTC(2026, 10, 21);

beforeAll(async () => {
  stub = await startGoogleStub();
});
afterEach(() => {
  stub.taken.length = 0;
  stub.trouble.length = 0;
  stub.conversions.clear();
  stub.badClicks.clear();
});
afterAll(async () => {
  await stub.close();
  rmSync(folder, { recursive: true });
});

function keyFile(name: string, fields: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(fields));
  return file;
}

const serviceAccount = () =>
  keyFile('service.json', {
    type: 'service_account',
    client_email: 'calls@example.iam.gserviceaccount.com',
    private_key: keys.privateKey,
    private_key_id: 'key-1',
    token_uri: `${stub.url}/token`,
    quota_project_id: 'my-project',
  });

const named = (file: string) => ({ GOOGLE_APPLICATION_CREDENTIALS: file });

async function open(env: Environment = named(serviceAccount()), clock = createManualClock(now)) {
  const credentials = await findGoogleCredentials(env);
  const destination = {
    account: '123-456-7890',
    loginAccount: '1112223333',
    conversionAction: '987654321',
  };
  return createDataManager({ credentials, destination, endpoint: stub.url, clock });
}

function change(number: number, more: Partial<LedgerEntry> = {}): Change {
  const entry: LedgerEntry = {
    action: 'add',
    key: String(number),
    sid: String(number),
    account: '101',
    at: Date.UTC(2026, 10, 20, 19, 3),
    name: 'Phone lead',
    click: { kind: 'gclid', id: `click-${number}` },
    value: 25,
    currency: 'USD',
    ...more,
  };
  return { kind: entry.action, entry, conversion: null, why: null, seen: null };
}

const at = { clock: { now: () => now } };
const push = async (...changes: Change[]) => pushConversions(await open(), changes, at);

const call = (number: number, more: object = {}): Call =>
  callWith({
    sid: String(number),
    ani: `20255501${String(number).padStart(2, '0')}`,
    talk_minutes: '4.0',
    ppc_gclid: `click-${number}`,
    first_touch: null,
    ...more,
  });

const rules: ConversionRules = {
  timeZone: 'America/New_York',
  conversionName: '',
  now,
  value: (one) => Number(one.talk_minutes) * 10,
  currency: 'USD',
};
const granted: ConsentRules = { adUserData: 'granted', adPersonalization: 'denied' };

/** The event that a change becomes, found to have the form of the schema. */
const eventOf = async (one: Change): Promise<DataManagerEvent | undefined> => {
  await push(one);
  return stub.taken.at(-1)?.events[0];
};

/** The events of calls that may be matched by number, and why the others are left out. */
async function byNumber(consent: ConsentRules | undefined, ...calls: Call[]) {
  const tool = { accepts: dataManagerAccepts({ phone: true }) };
  const tally = createTally();
  const found = conversions(calls, { ...rules, consent }, tool);
  stub.taken.length = 0;
  await push(...(await changesToSend(found, tally.add)));
  const events = stub.taken.flatMap((request) => request.events);
  return { events, leftOut: Object.fromEntries(tally.summary().leftOut) };
}

describe('events', () => {
  test('it writes the ID, time, click, value and currency of a conversion in the form of the schema', async () => {
    expect(await eventOf(change(1))).toEqual({
      transactionId: '1',
      eventTimestamp: '2026-11-20T19:03:00.000Z',
      eventSource: 'PHONE',
      adIdentifiers: { gclid: 'click-1' },
      conversionValue: 25,
      currency: 'USD',
    });
  });

  test('the ID is the key of the conversion, which may be another one than that of its call', async () => {
    expect(await eventOf(change(1, { key: '1 sale' }))).toMatchObject({ transactionId: '1 sale' });
  });

  test('it sends the hashed number of a caller only when the caller agreed', async () => {
    const hash = createHash('sha256').update('+12025550101').digest('hex');
    const { events } = await byNumber(granted, call(1));
    expect(events[0]?.userData).toEqual({ userIdentifiers: [{ phoneNumber: hash }] });
    expect(events[0]?.consent).toEqual({
      adUserData: 'CONSENT_GRANTED',
      adPersonalization: 'CONSENT_DENIED',
    });
    for (const consent of [undefined, { ...granted, adUserData: 'denied' } as const]) {
      const sent = await byNumber(consent, call(1));
      expect(sent.events.map(({ userData }) => userData)).toEqual([undefined]);
    }
    expect(JSON.stringify(stub.taken)).not.toContain('2025550101');
  });

  test('a number does not go beside a click that stands for many', async () => {
    const braid = call(1, {
      ppc_gclid: null,
      first_touch: 'https://shop.example/?wbraid=braid-of-many-clicks',
    });
    const { events } = await byNumber(granted, braid);
    expect(events).toMatchObject([{ adIdentifiers: { wbraid: 'braid-of-many-clicks' } }]);
    expect(events[0]?.userData).toBeUndefined();
  });

  test('a call that could be matched only by its number is left out without consent', async () => {
    const withoutClick = call(1, { ppc_gclid: undefined });
    expect(await byNumber(undefined, withoutClick)).toEqual({
      events: [],
      leftOut: { no_consent: 1 },
    });
    expect(await byNumber(granted, withoutClick)).toMatchObject({ events: [{}], leftOut: {} });
  });

  test('it restates a value and takes a conversion back under the same transaction ID', async () => {
    expect(await eventOf(change(1, { value: 80, action: 'restate' }))).toMatchObject({
      transactionId: '1',
      conversionValue: 80,
      lastUpdatedTimestamp: '2026-11-21T00:00:00.000Z',
    });
    expect(await eventOf(change(1, { action: 'retract' }))).toMatchObject({
      transactionId: '1',
      conversionValue: 0,
    });
  });

  test('it sends braids, and one click ID at most', async () => {
    for (const kind of ['gbraid', 'wbraid'] as const) {
      const event = await eventOf(change(1, { click: { kind, id: 'b-1' } }));
      expect(event?.adIdentifiers).toEqual({ [kind]: 'b-1' });
    }
    expect(dataManagerAccepts({ phone: false }).matchBy).toEqual(['gclid', 'gbraid', 'wbraid']);
    expect(dataManagerAccepts({ phone: true })).toMatchObject({ clickWindow: '63d' });
  });
});

describe('batches', () => {
  test('it sends all changes in batches, each checked against the schema', async () => {
    const changes = Array.from({ length: 5 }, (_, at) => change(at));
    const summary = await pushConversions({ ...(await open()), most: 2 }, changes, at);
    expect(stub.taken.map(({ events }) => events.length)).toEqual([2, 2, 1]);
    expect(summary).toMatchObject({ sent: { add: 5, restate: 0, retract: 0 }, refused: [] });
    expect(summary.requests).toEqual(['request-1', 'request-2', 'request-3']);
    expect(stub.taken[0]?.destinations).toEqual([
      {
        operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' },
        loginAccount: { accountType: 'GOOGLE_ADS', accountId: '1112223333' },
        productDestinationId: '987654321',
      },
    ]);
    expect(stub.taken[0]?.quotaProject).toBe('my-project');
  });

  test('it never puts more than 2,000 events into a request', async () => {
    const changes = Array.from({ length: 2_001 }, (_, at) => change(at));
    await push(...changes);
    expect(stub.taken.map(({ events }) => events.length)).toEqual([2_000, 1]);
  });

  test('it leaves out the events that Google refuses, names their calls, and sends the others', async () => {
    stub.badClicks.add('click-1');
    const { refused } = await push(change(0), change(1), change(2, { click: null }), change(3));
    expect(refused).toEqual([
      { sid: '1', field: 'ad_identifiers.gclid', reason: 'INVALID_FORMAT' },
      { sid: '2', field: 'ad_identifiers', reason: 'NO_IDENTIFIERS_PROVIDED' },
    ]);
    expect([...stub.conversions.keys()]).toEqual(['0', '3']);
  });

  test('it only asks for a check with validateOnly, and keeps nothing', async () => {
    const ledger = await openLedger(join(folder, 'check.ledger'));
    const options = { ...at, validateOnly: true, ledger, destination: 'google' };
    const { sent } = await pushConversions(await open(), [change(1)], options);
    expect(sent.add).toBe(1);
    expect(ledger.destinations()).toEqual([]);
    await ledger.close();
    expect(stub.taken[0]?.validateOnly).toBe(true);
    expect(stub.conversions.size).toBe(0);
  });

  test('it shows what became of a request, counted by reason', async () => {
    expect(await (await open()).diagnose('request-1')).toEqual({
      status: 'PARTIAL_SUCCESS',
      errors: [{ reason: 'PROCESSING_ERROR_REASON_INVALID_GCLID', count: 2 }],
      warnings: [],
    });
  });
});

describe('the ledger', () => {
  const tool = { accepts: dataManagerAccepts({ phone: false }) };

  /** One run of a push of these calls. */
  const run = async (path: string, ...calls: Call[]) => {
    const ledger = await openLedger(path);
    try {
      const tally = createTally();
      const found = conversions(calls, rules, tool, ledger.delivered('google'));
      const changes = await changesToSend(found, tally.add);
      const options = { ...at, ledger, destination: 'google' };
      const summary = await pushConversions(await open(), changes, options);
      return { ...tally.summary(), ...summary, ...summary.sent };
    } finally {
      await ledger.close();
    }
  };

  test('a second run sends only what is new or has changed, and corrects what no longer counts', async () => {
    const path = join(folder, 'runs.ledger');
    expect(await run(path, call(1), call(2), call(3))).toMatchObject({ add: 3, unchanged: 0 });
    expect(await run(path, call(1), call(2), call(3))).toMatchObject({ add: 0, unchanged: 3 });
    const changed = [
      call(1, { talk_minutes: '9.0' }),
      call(2, { talk_minutes: '0.0' }),
      call(3),
      call(4),
    ];
    expect(await run(path, ...changed)).toMatchObject({
      add: 1,
      restate: 1,
      retract: 1,
      unchanged: 1,
    });
    expect([...stub.conversions].map(([id, { conversionValue }]) => [id, conversionValue])).toEqual(
      [
        ['1', 90],
        ['2', 0],
        ['3', 40],
        ['4', 40],
      ],
    );
    expect(await run(path, call(1, { talk_minutes: '9.0' }), call(2))).toMatchObject({
      add: 0,
      restate: 1,
      unchanged: 1,
    });
    expect(stub.conversions.get('2')?.conversionValue).toBe(40);
    const moved = await run(path, call(3, { ppc_gclid: 'another-click' }));
    expect(moved).toMatchObject({
      add: 0,
      retract: 0,
      uncorrected: [{ sid: '3', what: 'click_changed' }],
    });
  });

  test('what was refused or not sent is sent by the next run, also after a crash in between', async () => {
    const path = join(folder, 'trouble.ledger');
    stub.badClicks.add('click-1');
    const calls = [call(1), call(2)];
    stub.trouble.push(() => ({ status: 403, body: '{"error":{"status":"PERMISSION_DENIED"}}' }));
    await expect(run(path, ...calls)).rejects.toThrow('PERMISSION_DENIED');

    // As if the process had ended after the note that a batch is about to be sent.
    const ledger = await openLedger(path);
    await ledger.prepare('google', [change(2).entry as LedgerEntry]);
    await ledger.close();
    expect(await run(path, ...calls)).toMatchObject({ add: 1, refused: [{ sid: '1' }] });
    stub.badClicks.clear();
    expect(await run(path, ...calls)).toMatchObject({ add: 1, refused: [] });
    expect(await run(path, ...calls)).toMatchObject({ add: 0 });
    expect([...stub.conversions.keys()].sort()).toEqual(['1', '2']);
  });
});

describe('trouble', () => {
  test('it waits and sends again when the API is busy, as long as the API says', async () => {
    const clock = createManualClock(now);
    stub.trouble.push(
      () => ({ status: 429, headers: { 'retry-after': '7' } }),
      () => ({ status: 503, body: '<html>overloaded</html>' }),
    );
    const pushed = pushConversions(await open(named(serviceAccount()), clock), [change(1)], at);
    let isDone = false;
    void pushed.finally(() => {
      isDone = true;
    });

    while (!isDone) {
      await new Promise((done) => setTimeout(done, 5));
      await clock.advance(500);
    }

    expect((await pushed).sent.add).toBe(1);
    expect(clock.now() - now).toBeGreaterThanOrEqual(7_000);
  });

  test('it takes a new token when the API no longer accepts the one it has', async () => {
    const api = await open();
    await pushConversions(api, [change(1)], at);
    stub.revoke();
    expect((await pushConversions(api, [change(2)], at)).sent.add).toBe(1);
  });

  test('it stops with an error that names the reason but no event when the destination is wrong', async () => {
    const denied = {
      error: { status: 'PERMISSION_DENIED', message: 'no access for +1 202 555 0123', details: [] },
    };
    stub.trouble.push(() => ({ status: 403, body: JSON.stringify(denied) }));
    const error = await push(change(1)).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PushError);
    expect(String(error)).toContain('PERMISSION_DENIED');
    expect(String(error)).toContain('no access for [number]');
    expect((error as PushError).hint).toContain('access to the account');
  });

  test('it does not follow a redirect with the token', async () => {
    stub.trouble.push(() => ({ status: 302, headers: { location: 'https://evil.example/' } }));
    await expect(push(change(1))).rejects.toThrow(
      'sent a response with status 302 that cannot be read',
    );
  });

  test('it refuses an account or action that is not a number, and an endpoint without https', async () => {
    const credentials = await findGoogleCredentials(named(serviceAccount()));

    const make = (destination: object, endpoint?: string) => () =>
      createDataManager({
        credentials,
        destination: { account: '1234567890', conversionAction: '1', ...destination },
        ...(endpoint ? { endpoint } : {}),
      });

    expect(make({ account: '12' })).toThrow(
      'the customer ID of the account must be 10 digits such as 123-456-7890',
    );
    expect(make({ conversionAction: 'Phone lead' })).toThrow(
      'the conversion action must be its ID, a number',
    );
    expect(make({}, 'http://data.example')).toThrow('must be an https URL');
  });
});

describe('credentials', () => {
  test('it signs in with a service account, once for many requests', async () => {
    stub.tokens.clear();
    const api = await open();
    await api.diagnose('request-1');
    await api.diagnose('request-1');
    expect(stub.tokens).toEqual(new Map([['jwt', 1]]));
  });

  test('it signs in as the user of gcloud, found in the usual folder', async () => {
    stub.tokens.clear();
    keyFile('application_default_credentials.json', {
      type: 'authorized_user',
      client_id: 'client-1',
      client_secret: 'client-secret-1',
      refresh_token: 'refresh-1',
      token_uri: `${stub.url}/token`,
    });
    await (await open({ CLOUDSDK_CONFIG: folder })).diagnose('request-1');
    expect(stub.tokens).toEqual(new Map([['refresh_token', 1]]));
  });

  test('it asks the metadata server when it runs at Google', async () => {
    stub.tokens.clear();
    const env = {
      CLOUDSDK_CONFIG: join(folder, 'none'),
      GCE_METADATA_HOST: new URL(stub.url).host,
    };
    await (await open(env)).diagnose('request-1');
    expect(stub.tokens.get('metadata')).toBe(1);
  });

  test('its errors name the file and what is missing, never what is in the file', async () => {
    const failure = async (fields: object): Promise<string> => {
      const signIn = async () =>
        (await open(named(keyFile('bad.json', fields)))).diagnose('request-1');
      return String(await signIn().catch((error: unknown) => error));
    };

    expect(await failure({ type: 'external_account' })).toContain(
      'bad.json: type must be service_account or authorized_user',
    );
    const user = {
      type: 'authorized_user',
      client_id: 'c',
      client_secret: 's',
      refresh_token: 'gone',
    };
    const { client_secret: _, ...secretless } = user;
    expect(await failure(secretless)).toContain('client_secret is missing');
    expect(await failure({ ...user, client_secret: '' })).toContain(
      'client_secret must not be empty',
    );
    expect(await failure({ ...user, token_uri: `${stub.url}/token` })).toContain('invalid_grant');
    const key = { type: 'service_account', client_email: 'a', private_key: 'TOP SECRET' };
    expect(await failure(key)).toContain('private_key must be a private key that can sign');
    expect(await failure(key)).not.toContain('TOP SECRET');
    const elsewhere = {
      ...key,
      private_key: keys.privateKey,
      token_uri: 'https://evil.example/token',
    };
    expect(await failure(elsewhere)).toContain(
      'token_uri must be a server of Google, not evil.example',
    );
    writeFileSync(join(folder, 'broken.json'), '{"private_key": "TOP SECRET", oops');
    await expect(findGoogleCredentials(named(join(folder, 'broken.json')))).rejects.toThrow(
      /^the key file .*broken\.json is not JSON: line 1, column 31 should have a name in double quotes$/,
    );
    await expect(findGoogleCredentials({ HOME: join(folder, 'nobody') })).rejects.toThrow(
      'no Google credentials were found',
    );
  });
});
