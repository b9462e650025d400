import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openOwnStage } from '../stage.ts';

const stage = await openOwnStage({ records: 200, days: 20, to: '2026-11-21 07:00:00' });
const folder = stage.folder();

interface Sent {
  readonly validateOnly: boolean;
  readonly events: readonly { readonly transactionId: string; readonly userData?: object }[];
}
const requests: Sent[] = [];
let refuseFirst = false;
let stopOnSend: AbortController | null = null;

// The schema is checked where the requests are made, in the tests of conversions; this server only
// takes them.
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;

  const reply = (status: number, json: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };

  if (request.url === '/token') return reply(200, { access_token: 'token', expires_in: 3600 });
  if (request.url?.startsWith('/v1/requestStatus'))
    return reply(200, {
      requestStatusPerDestination: [
        {
          requestStatus: 'PARTIAL_SUCCESS',
          errorInfo: {
            errorCounts: [{ recordCount: '2', reason: 'PROCESSING_ERROR_REASON_INVALID_GCLID' }],
          },
        },
      ],
    });

  if (stopOnSend) return stopOnSend.abort();
  const json = JSON.parse(body) as Sent;
  if (refuseFirst) {
    refuseFirst = false;
    const fieldViolations = [
      { field: 'events.events[0].ad_identifiers.gclid', reason: 'INVALID_FORMAT' },
    ];
    return reply(400, {
      error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ fieldViolations }] },
    });
  }

  requests.push(json);
  return reply(200, { requestId: `request-${requests.length}` });
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(async () => {
  await new Promise((done) => server.close(done));
  await stage.close();
});

const key = join(folder, 'key.json');
const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' };
writeFileSync(key, JSON.stringify({ ...user, token_uri: `${endpoint}/token` }));
const destination = ['--customer', '123-456-7890', '--conversion-action', '987'];

function push(...args: string[]) {
  return pushUntil(new AbortController().signal, ...args);
}

function pushUntil(signal: AbortSignal, ...args: string[]) {
  const all = ['push', 'google', ...destination, ...args];
  const env = {
    CALLS_PUSH_ENDPOINT: endpoint,
    GOOGLE_APPLICATION_CREDENTIALS: key,
    CALLS_TIME_ZONE: 'America/New_York',
  };
  return stage.quick(all, { cwd: folder, env, signal });
}

describe('calls push google', () => {
  test('it shows what it would send, has it checked, sends it once, and then only what is new', async () => {
    const values = ['--value', '25USD', '--ledger', 'push.ledger'];
    const dry = await push(...values, '--dry-run');
    const count = Number(/dry run: (\d+) changes? to send, 0 sent before/.exec(dry.stderr)?.[1]);
    expect([dry.code, count > 10, requests.length]).toEqual([0, true, 0]);
    expect(existsSync(join(folder, 'push.ledger'))).toBe(false);
    expect(dry.stderr).toContain('nobody answered the call');

    const checked = await push(...values, '--validate-only');
    expect(checked.stderr).toContain(
      `checked, nothing is stored: ${count} new, 0 corrected, 0 taken back`,
    );
    expect(requests[0]?.validateOnly).toBe(true);

    refuseFirst = true;
    const first = await push(...values);
    expect(first.code).toBe(1);
    expect(first.stderr).toContain(
      `sent: ${count - 1} new, 0 corrected, 0 taken back; 0 sent before`,
    );
    expect(first.stderr).toMatch(/refused: call \d+: INVALID_FORMAT \(ad_identifiers\.gclid\)/);
    const second = await push(...values);
    expect([
      second.code,
      second.stderr.includes(`sent: 1 new, 0 corrected, 0 taken back; ${count - 1} sent`),
    ]).toEqual([0, true]);
    const other = await push(...values.with(1, '40USD'));
    expect(other.stderr).toContain(`sent: 0 new, ${count} corrected, 0 taken back`);
    expect(other.stderr).toContain('request request-4: calls push status request-4');

    const ids = requests
      .slice(1, 3)
      .flatMap(({ events }) => events.map(({ transactionId }) => transactionId));
    expect(new Set(ids).size).toBe(count);
    expect(JSON.stringify(requests)).not.toContain('userData');
    expect(readFileSync(join(folder, 'push.ledger'), 'utf8')).not.toMatch(/\+1\d{10}/);
  });

  test('a push that would take back much writes and sends nothing, until that is allowed, and what counts again is sent again', async () => {
    const rules = (where: string) => {
      const valueRules = { rules: [{ where, value: 25 }] };
      writeFileSync(join(folder, 'rules.json'), JSON.stringify({ valueRules }));
    };
    const args = ['--rules', 'rules.json', '--ledger', 'much.ledger'];
    const figures = (stderr: string) => /sent: (.*)\n/.exec(stderr)?.[1];
    rules('talk_minutes >= 0');
    const first = await push(...args);
    const count = Number(/sent: (\d+) new/.exec(first.stderr)?.[1]);
    expect(count).toBeGreaterThan(20);

    rules("campaign = 'no such campaign'");
    const ledger = readFileSync(join(folder, 'much.ledger'), 'utf8');
    const { length } = requests;
    for (const more of [[], ['--dry-run'], ['--validate-only']]) {
      const stopped = await push(...args, ...more);
      expect(stopped.code).toBe(10);
      expect(stopped.stderr).toContain(
        `This run would take back ${count} of ${count} conversions that were uploaded: ${count} no_value (no value rule applies). Nothing was written or sent.`,
      );
      expect(stopped.stderr).toContain('add --allow-retractions');
    }
    expect([requests.length, readFileSync(join(folder, 'much.ledger'), 'utf8')]).toEqual([
      length,
      ledger,
    ]);

    const allowed = await push(...args, '--allow-retractions');
    expect([allowed.code, figures(allowed.stderr)]).toEqual([
      0,
      `0 new, 0 corrected, ${count} taken back; 0 sent before`,
    ]);
    rules('talk_minutes >= 0');
    const mended = await push(...args);
    expect([mended.code, figures(mended.stderr)]).toEqual([
      0,
      `0 new, ${count} corrected, 0 taken back; 0 sent before`,
    ]);
  });

  test('a sheet that would take back much writes nothing, and what counts again after that is listed', async () => {
    const rules = (where: string) => {
      const valueRules = { rules: [{ where, value: 25 }] };
      writeFileSync(join(folder, 'rules.json'), JSON.stringify({ valueRules }));
    };
    const sheet = (name: string, ...more: string[]) =>
      stage.quick(
        [
          ...['sheet', 'google-ads-clicks', '-o', name, '--conversion-name', 'Phone lead'],
          ...['--rules', 'rules.json', '--ledger', 'sheets.ledger', '--from', '60d', ...more],
        ],
        { cwd: folder, env: { CALLS_TIME_ZONE: 'America/New_York' } },
      );
    rules('talk_minutes >= 0');
    expect((await sheet('1.csv')).code).toBe(0);
    rules("campaign = 'no such campaign'");
    const stopped = await sheet('2.csv', '--left-out', 'left.csv');
    expect(stopped.code).toBe(10);
    expect(stopped.stderr).toMatch(/take back (\d+) of \1 conversions/);
    const there = ['2.csv', '2.adjustments.csv', 'left.csv'].map((name) =>
      existsSync(join(folder, name)),
    );
    expect(there).toEqual([false, false, false]);
    expect((await sheet('2.csv', '--allow-retractions')).stderr).toMatch(
      /0 restated, \d+ retracted/,
    );
    rules('talk_minutes >= 0');
    expect((await sheet('3.csv')).stderr).toMatch(/\d+ {2}counts_again: the call counts again/);
  });

  test('calls get --for says why a call is in a sheet or not, and when it was sent', async () => {
    const env = { CALLS_TIME_ZONE: 'America/New_York' };
    const quick = (...args: string[]) => stage.quick(args, { cwd: folder, env });
    writeFileSync(join(folder, 'first.json'), '{ "firstCallOnly": true, "value": 25 }');
    const sheet = ['--conversion-name', 'Phone lead', '--ledger', 'why.ledger'];
    const rules = ['--rules', 'first.json'];
    const write = await quick(
      ...['sheet', 'google-ads-clicks', '-o', 'why.csv', '--left-out', 'why-not.csv'],
      ...['--period', '2026-11', ...sheet, ...rules],
    );
    expect(write.stderr).toContain('new conversions');
    const lines = readFileSync(join(folder, 'why-not.csv'), 'utf8').split('\r\n').slice(1, -1);
    const reasons = new Map(lines.map((line) => [line.split(',')[2], line.split(',')[0]]));
    expect(reasons.size).toBeGreaterThan(3);
    const why = (sid: string, ...more: string[]) =>
      quick('get', sid, '--for', 'google-ads-clicks', ...rules, ...more);
    for (const [reason, sid = ''] of reasons) {
      const { stdout } = await why(sid);
      expect(stdout).toContain('no conversion for Google Ads, conversions from clicks');
      expect(stdout).toContain(`: ${reason}: `);
    }

    const ledger = readFileSync(join(folder, 'why.ledger'), 'utf8');
    const sent = /"sid":"(\d+)"/.exec(ledger)?.[1] ?? '';
    const { stdout } = await why(sent, ...sheet);
    expect(stdout).toMatch(
      /^a conversion for Google Ads, conversions from clicks, worth 25\.00, matched by the click gclid \S+\nsent on 2026-11-21 0\d:00:00, America\/New_York, as it is now\n$/,
    );
    expect(JSON.parse((await why(sent, ...sheet, '--json')).stdout)).toMatchObject({
      sid: sent,
      counts: true,
      kind: 'left-out',
      why: 'sent_before',
      value: 25,
    });
    expect((await why(sent, '--ledger', 'why.ledger')).stderr).toContain('--conversion-name');
    expect((await why(sent, '--min-talk', '10h')).stdout).toMatch(
      /: too_short: .*\nthey talked for .* minutes; the minimum is 36000 s\n$/,
    );
    expect(readFileSync(join(folder, 'why.ledger'), 'utf8')).toBe(ledger);
  });

  test('calls get --for takes the APIs, too, with the options of their pushes', async () => {
    const env = { CALLS_TIME_ZONE: 'America/New_York', CALLS_PUSH_ENDPOINT: endpoint };
    const rules = ['--value', '25USD'];
    requests.length = 0;
    await push('--ledger', 'api.ledger', ...rules, '--from', '90d');
    const sid = requests[0]?.events[0]?.transactionId ?? '';
    const why = (...args: string[]) =>
      stage.quick(['get', sid, '--for', ...args, ...rules], { cwd: folder, env });
    const google = ['push-google', ...destination];
    const before = readFileSync(join(folder, 'api.ledger'), 'utf8');
    expect((await why(...google, '--ledger', 'api.ledger')).stdout).toMatch(
      /^a conversion for the Data Manager API, worth 25\.00 USD, matched by the click \w+ \S+\nsent on .*, as it is now\n$/,
    );
    const { stdout } = await why(...google, '--ledger', 'api.ledger', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ sid, tool: 'push-google', why: 'sent_before' });
    expect(readFileSync(join(folder, 'api.ledger'), 'utf8')).toBe(before);

    // Another action has got nothing, and a sheet of the same calls has a destination of its own.
    const other = ['push-google', '--customer', '1234567890', '--conversion-action', '988'];
    expect((await why(...other, '--ledger', 'api.ledger')).stdout).toContain('not sent yet');
    expect((await why('push-google')).stderr).toContain('--for push-google needs --customer');
    expect((await why(...google, '--phone')).stderr).toContain('--phone needs consent');

    // What another tool has says nothing here.
    for (const option of [['--customer', '1'], ['--conversion-action', '9'], ['--phone']])
      for (const tool of ['google-ads-clicks', 'push-microsoft']) {
        const { code, stderr } = await why(tool, ...option);
        expect(code).toBe(2);
        expect(stderr).toContain(`${option[0]} goes with --for push-google, and not with ${tool}`);
      }

    const named = await why(...google, '--conversion-name', 'Phone lead');
    expect([named.code, named.stderr]).toEqual([
      2,
      expect.stringContaining('--conversion-name does not go with --for push-google'),
    ]);
    const ofMicrosoft = await why('push-microsoft', '--ledger', 'api.ledger');
    expect(ofMicrosoft.stderr).toContain('--conversion-name');
    expect((await why('push-microsoft')).stdout).toContain('Microsoft Advertising');
  });

  test('rules and consent see the definitions of the configuration file', async () => {
    const config = { definitions: { lead: 'talk_minutes >= 2', agreed: 'talk_minutes >= 4' } };
    writeFileSync(join(folder, 'calls.config.json'), JSON.stringify(config));
    const write = (where: string) =>
      writeFileSync(
        join(folder, 'defined.json'),
        JSON.stringify({
          valueRules: { rules: [{ where, value: 40 }], otherwise: 5 },
          consent: { adUserData: { granted: 'agreed' }, adPersonalization: 'denied' },
        }),
      );
    write('lead');
    const rules = ['--rules', 'defined.json', '--config', 'calls.config.json'];
    const { stderr } = await push(...rules, '--dry-run');
    expect(stderr).toMatch(/dry run: [1-9]\d* changes? to send/);
    expect(stderr).toMatch(/\d+ {2}no_consent: /);
    const without = await push('--rules', 'defined.json', '--dry-run');
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('defined.json.valueRules: rules[0].where has a mistake: ');
    write('leed');
    expect((await push(...rules, '--dry-run')).stderr).toMatch(/rules\[0\]\.where .*lead/s);
  });

  test('outcomes are sent once, with their own value and time, corrected, and many of them are not taken back at once', async () => {
    const list = ['list', '--all', '--json'];
    const found = await stage.quick(list, { cwd: folder });
    const calls = (JSON.parse(found.stdout) as Record<string, string | null>[]).filter(
      ({ ani, date_added }) => /^\d{11}$/.test(ani ?? '') && (date_added ?? '') < '2026-11-20',
    );
    const write = (status: string, value: number) => {
      const rows = calls.map(({ ani, date_added }, i) =>
        [ani, `${date_added?.slice(0, 10)} 23:59:59`, value, `deal ${i}`, status].join(','),
      );
      writeFileSync(join(folder, 'deals.csv'), ['phone,time,value,id,status', ...rows].join('\n'));
    };
    const args = ['--outcomes', 'deals.csv', '--ledger', 'deals.ledger'];
    const figures = async (...more: string[]) => {
      const { code, stderr } = await push(...args, ...more);
      return [code, /sent: (.*)\n/.exec(stderr)?.[1] ?? /calls: (.*?)[.:]/.exec(stderr)?.[1]];
    };

    requests.length = 0;
    write('won', 70);
    const [, first] = await figures();
    const count = Number(/^(\d+) new/.exec(String(first))?.[1]);
    expect(count).toBeGreaterThan(20);
    const [event] = requests.flatMap(({ events }) => events);
    expect(event).toMatchObject({
      transactionId: expect.stringMatching(/^outcome-[0-9a-f]{40}$/),
      eventTimestamp: expect.stringMatching(/T04:59:59.000Z$/),
      conversionValue: 70,
    });
    expect(await figures()).toEqual([0, `0 new, 0 corrected, 0 taken back; ${count} sent before`]);
    write('paid', 80);
    expect((await figures())[1]).toContain(`0 new, ${count} corrected, 0 taken back`);
    write('refunded', 80);
    expect(await figures()).toEqual([
      10,
      `This run would take back ${count} of ${count} conversions that were uploaded`,
    ]);
    expect((await figures('--allow-retractions'))[1]).toContain(`${count} taken back`);
    const known = readFileSync(join(folder, 'deals.ledger'), 'utf8') + JSON.stringify(requests);
    for (const { ani } of calls) expect(known).not.toContain(ani?.slice(1));
    expect(known).not.toContain('deal 1');
  });

  test('a trial with another server marks nothing as sent for the tool itself', async () => {
    const args = ['push', 'google', ...destination, '--ledger', 'trial.ledger'];
    const to = async (server: string) => {
      const env = {
        CALLS_PUSH_ENDPOINT: server,
        GOOGLE_APPLICATION_CREDENTIALS: key,
        CALLS_TIME_ZONE: 'America/New_York',
      };
      const run = await stage.quick(args, { cwd: folder, env });
      return /sent: (\d+) new/.exec(run.stderr)?.[1];
    };
    const sent = await to(endpoint);
    expect(Number(sent)).toBeGreaterThan(10);
    expect(await to(endpoint.replace('127.0.0.1', 'localhost'))).toBe(sent);
    expect(await to(endpoint)).toBe('0');
  });

  test('after Ctrl-C while it sends, the next run sends everything that was not taken', async () => {
    stopOnSend = new AbortController();
    const stopped = await pushUntil(stopOnSend.signal, '--ledger', 'stopped.ledger');
    stopOnSend = null;
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toContain('the ledger has what was sent; the same command continues');
    expect((await push('--ledger', 'stopped.ledger')).stderr).toMatch(
      /sent: [1-9]\d* new, 0 corrected/,
    );
  });

  test('it shows what became of an earlier request', async () => {
    const env = { CALLS_PUSH_ENDPOINT: endpoint, GOOGLE_APPLICATION_CREDENTIALS: key };
    const run = await stage.quick(['push', 'status', 'request-2'], { cwd: folder, env });
    expect(run.code).toBe(1);
    expect(run.stderr).toBe(
      'request request-2: PARTIAL_SUCCESS\n  2 events failed: PROCESSING_ERROR_REASON_INVALID_GCLID\n',
    );
  });

  test('what is missing is said before calls are read', async () => {
    const refused = async (args: readonly string[], env = {}) => {
      const run = await stage.quick(['push', ...args], {
        cwd: folder,
        env: { CALLS_TIME_ZONE: 'UTC', ...env },
      });
      expect(run.code).toBe(2);
      return run.stderr;
    };

    const google = ['google', ...destination];
    expect(await refused(['google'])).toContain("'--customer <id>' not specified");
    expect(await refused(google)).toContain(
      'calls push needs --ledger FILE, where it notes what was sent',
    );
    const withLedger = [...google, '--ledger', 'x.ledger'];
    expect(await refused([...withLedger, '--phone'])).toContain('--phone needs consent');
    expect(await refused(withLedger, { CLOUDSDK_CONFIG: folder })).toContain(
      'no Google credentials were found',
    );
    expect(await refused(withLedger, { CALLS_TIME_ZONE: '' })).toContain('needs a time zone');
    for (const dry of [['--dry-run'], []]) {
      const at = (customer: string, action: string) =>
        refused(['google', '--customer', customer, '--conversion-action', action, ...dry]);
      expect(await at('123', '987')).toContain('10 digits such as 123-456-7890');
      expect(await at('123-456-7890', 'abc')).toContain('its ID, a number');
    }

    const microsoft = ['microsoft', '--ledger', 'x.ledger', '--conversion-name', 'Phone lead'];
    expect(await refused(microsoft)).toContain('calls push microsoft needs --credentials FILE');
    expect(await refused([...microsoft, '--credentials', 'none.json'])).toContain(
      'none.json cannot be read: ENOENT',
    );
  });
});
