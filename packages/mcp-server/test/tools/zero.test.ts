import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { type Asked, failed, fakeClient } from '../support/fake-client.ts';

const calls: readonly Call[] = fixtureCalls(137).map((call, i) => ({
  ...call,
  ppc_campaign: i % 3 === 0 ? 'Harbor Dental | Brand' : null,
  state: i % 2 === 0 ? 'TX' : 'CA',
  ppc_status: 'Processed',
  vt_device: 'm',
}));
const first = calls[0]?.date_added ?? '';
const last = calls.at(-1)?.date_added ?? '';
const server = createServer(fakeClient(calls));

const notesOf = async (tool: string, args: object, of = server): Promise<string> =>
  (await ask(of, tool, args)).notes.join('\n');

describe('every tool says what a number is counted of', () => {
  const begins = `The first call is from ${first}: nothing is known of the period before it.`;

  it('where the data begins, whether the API counts or the copy', async () => {
    const fresh = createServer(fakeClient(calls));
    const early = { calls: 'all', from: '2023-06-01', to: last.slice(0, 10) };
    expect(await notesOf('count_calls', early, fresh)).toContain(begins);
    expect(await notesOf('analyze_calls', early, fresh)).toContain(begins);
    expect(await notesOf('count_calls', early, fresh)).toContain(begins);

    const all = { calls: 'all', from: first.slice(0, 10), to: last.slice(0, 10) };
    for (const of of [fresh, createServer(fakeClient(calls))])
      expect(await notesOf('count_calls', all, of)).not.toContain('nothing is known');
  });

  it.each(['count_calls', 'list_calls', 'analyze_calls'])(
    '%s: which calls a negation leaves out',
    async (tool) => {
      const said = /91 calls without ppc_campaign are left out/;
      const where = "NOT campaign LIKE '%generic%'";
      expect(await notesOf(tool, { calls: 'all', where })).toMatch(said);
      for (const silent of [
        "campaign LIKE '%brand%'",
        `${where} OR campaign IS NULL`,
        "state <> 'NY'",
      ])
        expect(await notesOf(tool, { calls: 'all', where: silent })).not.toContain('left out,');
    },
  );
});

describe('over v2', () => {
  const v2 = createServer(fakeClient(calls, { version: 'v2' }));

  it.each([
    ['count_calls', { where: 'campaign IS NULL' }],
    ['list_calls', { where: "campaign LIKE '%Brand%'" }],
    ['analyze_calls', { group_by: 'keyword', where: "state = 'TX'" }],
    ['analyze_calls', { measures: 'distinct(campaign)' }],
  ])('%s refuses fields that only v3 has: %j', async (tool, args) => {
    const { isError, content } = await callTool(v2, tool, args);
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/Only v3 of the API has ppc_\w+, .* Use ppc_\w+_id\./);
  });
});

describe('an answer of zero says why', () => {
  it.each([
    ["campaign = 'Brand'", "ppc_campaign is never 'Brand'; nearest: 'Harbor Dental | Brand'."],
    ["campaign LIKE '%generic%'", "No ppc_campaign is like '%generic%'"],
    ["state = 'Texas'", "state is never 'Texas'; nearest: 'TX'"],
    ["ppc_status = 'proces'", "ppc_status is never 'proces'; nearest: 'Processed'"],
    ["vt_device = 'mobile'", "vt_device is never 'mobile'; nearest: 'm'"],
  ])('of the condition %s', async (where, text) => {
    for (const [tool, args] of [
      ['analyze_calls', { measures: ['calls'] }],
      ['analyze_calls', { group_by: ['channel'] }],
    ] as const) {
      const notes = await notesOf(tool, { calls: 'all', where, ...args });
      expect(notes).toContain(text);
      expect(notes).toContain('Without the condition it would be 137: no call meets it.');
    }

    expect(await notesOf('count_calls', { calls: 'all', where })).toContain('it would be 137');
    expect(await notesOf('list_calls', { calls: 'all', where })).toContain('it would be 137');
  });

  it.each([
    [
      { period: '2019' },
      `There are no calls from 2019-01-01 to 2019-12-31: the first one after it is from ${first}.`,
    ],
    [
      { from: '2030-01-01' },
      `There are no calls from 2030-01-01 on: the last call before it is from ${last}.`,
    ],
  ])('of the period %j', async (args, text) => {
    for (const tool of ['analyze_calls', 'count_calls', 'list_calls'])
      expect(await notesOf(tool, args)).toContain(text);
  });

  it('of the period that it is compared with', async () => {
    const notes = await notesOf('analyze_calls', {
      from: first.slice(0, 10),
      to: last.slice(0, 10),
      compare: 'year',
    });
    expect(notes).toBe(
      `The first call is from ${first}: nothing is known of the period before it.`,
    );
  });

  it('of months before the first call and after the last one', async () => {
    const notes = await notesOf('analyze_calls', {
      calls: 'all',
      from: '2023-06-01',
      to: '2026-01-31',
      group_by: ['month'],
      measures: ['calls'],
    });
    expect(notes).toContain(
      `The first call is from ${first}: nothing is known of the period before it.`,
    );
    expect(notes).toContain(
      `The last call is from ${last}: nothing is known of the period after it.`,
    );
  });

  it.each([undefined, true])(
    'of a time that is compared with and begins before the data, and nothing untrue: explain %s',
    async (explain) => {
      const some = createServer(fakeClient(fixtureCalls(1200)));
      const asked = { from: '2024-01-02', to: '2024-01-03', compare: 'previous', explain };
      const { notes, summary, rows } = await ask(some, 'analyze_calls', asked);
      expect(notes).toEqual([
        `The first call is from ${first}: nothing is known of the period before it.`,
      ]);
      if (explain) expect(summary).toMatch(/ Not enough is known from .+ to say what changed\.$/);
      else expect(rows[0]?.[1]).toBeNull();
    },
  );

  it.each([
    ['analyze_calls', { measures: ['calls'] }],
    ['analyze_calls', { group_by: ['city'], where: 'talk_minutes > 1' }],
    ['count_calls', { where: "state = 'TX'" }],
  ])('of a period that begins before the data: %s %j', async (tool, args) => {
    const note = `The first call is from ${first}: nothing is known of the period before it.`;
    const asked = { calls: 'all', from: '2023-06-01', to: last.slice(0, 10), ...args };
    expect(await notesOf(tool, asked)).toContain(note);
    expect(await notesOf(tool, { ...asked, from: first.slice(0, 10) })).not.toContain(
      'nothing is known',
    );
    expect(await notesOf(tool, { ...asked, from: undefined, to: undefined })).not.toContain(
      'nothing is known',
    );
  });

  it('of nothing more when every month has calls', async () => {
    const args = {
      calls: 'all',
      from: first.slice(0, 10),
      to: last.slice(0, 10),
      measures: ['calls'],
    };
    expect(await notesOf('analyze_calls', { ...args, group_by: ['month'] })).not.toContain(
      'nothing is known',
    );
  });

  it('of calls that all came through ads', async () => {
    const only = createServer(fakeClient(calls.filter(isCallExtension)));
    expect(await notesOf('count_calls', {}, only)).toContain('all through call extensions');
  });

  it('of nothing when the API fails after the answer', async () => {
    const before = ({ rows }: Asked) => (rows === 1 ? failed(503) : undefined);
    const down = createServer(fakeClient(calls, { before }));
    expect(await ask(down, 'analyze_calls', { period: '2019' })).toMatchObject({
      calls: 0,
      complete: true,
    });
  });

  it('says so of an account without calls', async () => {
    const notes = await notesOf('count_calls', { period: '2024' }, createServer(fakeClient([])));
    expect(notes).toContain('The account has no calls at all.');
  });
});
