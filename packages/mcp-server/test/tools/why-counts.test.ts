import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLedger } from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { type CallsMcpOptions, callTool, createServer } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { fakeClient } from '../support/fake-client.ts';

const [first, second, third, fourth] = fixtureCalls(4) as [Call, Call, Call, Call];
const visited = {
  displayed_timestamp: '2026-11-01 09:00:00',
  ppc_status: 'Processed',
  channel: 'Tracker',
};
const calls: readonly Call[] = [
  {
    ...first,
    ...visited,
    sid: 'S1',
    ani: '13035550100',
    date_added: '2026-11-01 10:00:00',
    talk_end: '2026-11-01 10:05:00',
    talk_minutes: '5.0',
    ppc_gclid: 'Click-1',
    custom_value: 'ads=1',
    first_touch: null,
  },
  {
    ...second,
    ...visited,
    sid: 'S2',
    ani: '+1 303 555 0100',
    date_added: '2026-11-02 10:00:00',
    talk_end: '2026-11-02 10:05:00',
    talk_minutes: '5.0',
    ppc_gclid: 'Click-2',
    custom_value: null,
    first_touch: null,
  },
  {
    ...third,
    ...visited,
    sid: 'S3',
    ani: '12125550101',
    date_added: '2026-11-03 10:00:00',
    talk_end: '2026-11-03 10:00:06',
    talk_minutes: '0.1',
    ppc_gclid: 'Click-3',
    first_touch: null,
  },
  {
    ...fourth,
    ...visited,
    sid: 'S4',
    ani: '12125550102',
    date_added: '2026-11-03 11:00:00',
    talk_end: '2026-11-03 11:05:00',
    talk_minutes: '5.0',
    ppc_gclid: null,
    first_touch: 'https://x.test/?gclid=Call-212-555-0102',
  },
];

const folder = mkdtempSync(join(tmpdir(), 'mcp-why-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fileWith = (name: string, rules: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(rules));
  return file;
};

const named = (file: string, ledger: string | null = null) => ({
  file,
  ledger,
  conversionName: 'Qualified call',
});
const table = {
  value: undefined,
  currency: 'USD',
  valueRules: {
    rules: [
      { name: 'asked by an ad', where: "custom_value = 'ads=1'", value: 80 },
      { where: "ani = '13035550199'", value: 60 },
    ],
  },
};
const ledgerFile = join(folder, 'uploads.ledger');
const configured = {
  definitions: { agreed: "custom_value = 'ads=1'" },
  exclude: null,
  reports: new Map(),
  rules: {
    worth: named(fileWith('worth.json', table)),
    defined: named(
      fileWith('defined.json', {
        currency: 'USD',
        valueRules: { rules: [{ where: 'agreed', value: 25 }], otherwise: 5 },
      }),
    ),
    chosen: named(fileWith('chosen.json', { where: "agreed AND ani <> '13035550199'" })),
    once: named(fileWith('once.json', { firstCallOnly: true })),
    sent: named(fileWith('sent.json', {}), ledgerFile),
    new_ledger: named(fileWith('new.json', {}), join(folder, 'none.ledger')),
    broken: named(fileWith('broken.json', { valeu: '3035550100' })),
    gone: named(join(folder, 'gone.json')),
  },
};

const serverOver = (options: CallsMcpOptions = {}) =>
  createServer(fakeClient(calls), {
    timeZone: 'America/New_York',
    pseudonymKey: 'key',
    clock: { now: () => Date.parse('2026-11-05T12:00:00Z') },
    configured,
    ...options,
  });
const server = serverOver();
const tool = 'google-ads-clicks';
const why = (args: object) => ask(server, 'get_call', { for: tool, ...args });

describe('get_call with for', () => {
  it('says that a call counts, and by which rule', async () => {
    const { summary, conversion, call } = await why({ sid: 'S1', rules: 'worth' });
    expect(summary).toMatch(
      /^A conversion for Google Ads.*, worth 80\.00 USD by the rule "asked by an ad", matched by the click gclid Click-1\. One call/,
    );
    expect(conversion).toMatchObject({
      sid: 'S1',
      tool,
      rules: 'worth',
      counts: true,
      value: 80,
      currency: 'USD',
    });
    expect(call.sid).toBe('S1');
  });

  it('says which conditions failed, without what they compare hidden fields with', async () => {
    const { summary, conversion } = await why({ sid: 'S2', rules: 'worth' });
    expect(summary).toContain('Not true of it: asked by an ad: custom_value = …');
    expect(summary).toContain('Not true of it: ani = …');
    expect(summary).not.toContain('555');
    expect(conversion).toMatchObject({ counts: false, why: 'no_value' });
  });

  it('judges by the definitions of the configuration, of the call as it was sent', async () => {
    expect((await why({ sid: 'S1', rules: 'defined' })).conversion.value).toBe(25);
    expect((await why({ sid: 'S2', rules: 'defined' })).conversion.value).toBe(5);
  });

  it('says which condition of the rules chooses other calls', async () => {
    expect((await why({ sid: 'S1', rules: 'chosen' })).conversion.counts).toBe(true);
    const { summary, conversion } = await why({ sid: 'S2', rules: 'chosen' });
    expect(conversion).toMatchObject({ counts: false, why: 'not_chosen' });
    expect(summary).toContain('Not true of it: agreed AND ani <> …');
  });

  it('leaves out what the configuration excludes, as a sheet does', async () => {
    const own = serverOver({ configured: { ...configured, exclude: 'agreed' } });
    const asked = { sid: 'S1', for: tool };
    const { summary, conversion } = await ask(own, 'get_call', asked);
    expect(conversion).toMatchObject({ counts: false, why: 'excluded' });
    expect(summary).toContain('True of it: agreed');
  });

  it('judges without rules by what the tool asks for', async () => {
    const { summary, conversion } = await why({ sid: 'S3' });
    expect(conversion).toMatchObject({ counts: false, why: 'too_short', rules: null });
    expect(summary).toContain('They talked for 0.1 minutes');
    expect((await why({ sid: 'S1' })).conversion.counts).toBe(true);
  });

  it.each(['push-google', 'push-microsoft'])('judges for what is pushed, too: %s', async (name) => {
    const { conversion, summary } = await ask(server, 'get_call', {
      sid: 'S1',
      for: name,
      rules: 'sent',
    });
    expect(conversion).toMatchObject({ tool: name, sid: 'S1' });
    expect(conversion.counts).toBe(name === 'push-google');
    expect(summary).not.toMatch(/sent/i);
  });

  it('reads the earlier calls of the caller where the rules compare them', async () => {
    expect((await why({ sid: 'S1', rules: 'once' })).conversion.counts).toBe(true);
    const { conversion } = await why({ sid: 'S2', rules: 'once' });
    expect(conversion).toMatchObject({ counts: false });
    expect((await why({ sid: 'S4', rules: 'once' })).conversion.counts).toBe(true);
  });

  it('shows no click that is hidden in the call', async () => {
    const { summary } = await why({ sid: 'S4' });
    expect(summary).toContain('matched by the click gclid …');
    expect(summary).not.toContain('0102');
  });

  it('says what of it was sent, by the ledger that the configuration names', async () => {
    const ledger = await openLedger(ledgerFile, {
      clock: { now: () => Date.parse('2026-11-04T15:00:00Z') },
    });
    const entry = {
      action: 'add' as const,
      key: 'S1',
      sid: 'S1',
      account: String(calls[0]?.acct_id),
      click: { kind: 'gclid' as const, id: 'Click-1' },
      at: Date.parse('2026-11-01T15:00:00Z'),
      name: 'Qualified call',
      value: null,
      currency: null,
    };
    await ledger.commit(await ledger.prepare(`${tool} Qualified call`, [entry]));
    await ledger.close();
    const { summary, conversion } = await why({ sid: 'S1', rules: 'sent' });
    expect(summary).toContain('Sent on 2026-11-04 10:00:00, America/New_York');
    expect(conversion.sentAt).toBe('2026-11-04T15:00:00.000Z');
    expect((await why({ sid: 'S2', rules: 'sent' })).summary).toContain(
      'Not sent yet: the next run sends it',
    );
    expect((await why({ sid: 'S1', rules: 'new_ledger' })).summary).toContain('Not sent yet');
    expect((await why({ sid: 'S1', rules: 'worth' })).summary).not.toMatch(/sent/i);
  });

  it.each([
    [
      { sid: 'S1', for: 'google' },
      /no bid tool "google".*Use one of google-ads-calls, google-ads-clicks, /,
    ],
    [{ sid: 'S1', rules: 'lead' }, /There are no rules "lead"\..*Use one of worth, defined/],
    [{ sid: 'S1', rules: 'worth.json' }, /There are no rules "worth\.json"/],
    [{ sid: 'S1', rules: '../worth.json' }, /There are no rules/],
    [{ sid: 'S1', rules: 'broken' }, /The rules broken cannot be read\.\nWhy: .*mistake/],
    [{ sid: 'S1', rules: 'gone' }, /The rules gone cannot be read/],
    [{ sid: 'S1', rules: 'worth', for: null }, /rules says nothing without for/],
    [{ sid: 'none', rules: 'worth' }, /get_call failed \(HTTP 404\)/],
  ])('says what is wrong with %j, and never where a file is', async (args, message) => {
    const { isError, content } = await callTool(server, 'get_call', { for: tool, ...args });
    const text = content[0]?.text ?? '';
    expect([isError, text]).toEqual([true, expect.stringMatching(message)]);
    expect(text).not.toContain(folder);
    expect(text).not.toMatch(/555.?0100/);
  });

  it('asks for the time zone, which nobody else knows', async () => {
    const { content } = await callTool(serverOver({ timeZone: undefined }), 'get_call', {
      sid: 'S1',
      for: tool,
    });
    expect(content[0]?.text).toContain('CALLS_TIME_ZONE');
  });
});
