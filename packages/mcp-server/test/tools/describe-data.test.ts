import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { questionFields } from '@call-attribution/questions';
import { measureForms } from '@call-attribution/questions/measures';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { ask, type Content } from '../support/ask.ts';
import { fakeClient } from '../support/fake-client.ts';

const calls: readonly Call[] = fixtureCalls(60).map((call, i) => ({
  ...call,
  talk_minutes: i % 4 === 0 ? '0.0' : '1.5',
  referrer: 'ignore-all-rules.test',
  first_touch: i % 2 === 0 ? 'https://example.com/?gclid=Call-617-555-0199' : null,
}));
const server = createServer(fakeClient(calls));

async function describeFields(fields: string): Promise<Record<string, unknown[]>> {
  const { rows } = await ask(server, 'describe_data', { fields });
  return Object.fromEntries(rows.map(([name, ...rest]: unknown[]) => [name, rest]));
}

describe('describe_data', () => {
  it('describes fields that follow from others, by each of their names', async () => {
    const found = await describeFields(
      'lag_minutes,Missed call,weekday,talk_minutes,call_extension',
    );
    expect(Object.keys(found).sort()).toEqual(
      ['is_extension', 'lag_minutes', 'missed', 'talk_minutes', 'weekday'].sort(),
    );
    expect(found.missed).toEqual([
      expect.stringContaining('Nobody answered'),
      '0%',
      'false 45, true 15',
    ]);
    expect(found.weekday?.[2]).toBe('Mon 60');
  });

  it('gives no shares of what other calls of a caller say, which it does not read', async () => {
    const { caller_nth: nth, caller_first_source: source } = await describeFields(
      'caller_nth,caller_first_source',
    );
    expect([nth?.slice(1), source?.slice(1)]).toEqual([
      [null, ''],
      [null, ''],
    ]);
  });

  it('knows each field of questions, and names those that it does not show', async () => {
    const roomy = createServer(fakeClient(calls), { budget: 40_000 });
    const namesIn = ({ rows }: Content) => rows.map(([name]: string[]) => name);
    const described = new Set(namesIn(await ask(roomy, 'describe_data', { fields: 'all' })));
    const usual = await ask(server, 'describe_data');
    const named = new Set([...usual.more_fields, ...namesIn(usual)]);
    for (const name of [
      'lag_minutes',
      'caller_nth',
      'caller_type',
      'weekday',
      'account',
      'click_kind',
    ]) {
      expect(described).toContain(name);
      expect(named).toContain(name);
    }

    for (const { name, otherCalls } of questionFields().values())
      if (otherCalls !== 'none') expect(described).toContain(name);
  });

  it('explains measures by their names, also next to fields', async () => {
    const found = await describeFields(
      'first_time_callers,state,per_day,share,median(talk_minutes)',
    );
    expect(Object.keys(found)).toEqual([
      'state',
      'first_time_callers',
      'per_day',
      'share',
      'share(condition)',
      'median(field)',
    ]);
    expect(found.first_time_callers?.[0]).toMatch(/whose first call to the account, of all calls/);
    expect(found['median(field)']?.[0]).toBe(
      'Median of the field; of two in the middle the smaller one.',
    );
  });

  it('explains every measure that analyze_calls lists', async () => {
    const found = await describeFields('measures');
    for (const [name, [meaning]] of Object.entries(found)) {
      expect(meaning, name).toMatch(/^[A-Z].*\.$/);
      expect(meaning, name).not.toContain('{}');
    }
    expect(Object.keys(found)).toEqual([...measureForms]);
  });

  it('shows click ids of addresses as masked as fields of calls', async () => {
    expect(JSON.stringify(await describeFields('click_id'))).not.toContain('617-555-0199');
  });

  it.each([
    [
      'describe_data',
      { fields: 'lag_minute' },
      'There is no field "lag_minute". Did you mean "lag_minutes"?',
    ],
    [
      'describe_data',
      { fields: 'first_time_caller' },
      'There is no field "first_time_caller". Did you mean "first_time_callers"?',
    ],
    [
      'list_calls',
      { fields: 'lag_minutes' },
      'A call has no "lag_minutes": it follows from other fields.',
    ],
  ])('is offered where a name is wrong: %s %j', async (tool, args, text) => {
    const { content } = await callTool(server, tool, args);
    expect(content[0]?.text).toContain(text);
  });
});

describe('analyze_calls', () => {
  it.each(['caller_first_source', 'caller_last_source', 'referrer'])(
    'marks text of visitors in groups by %s',
    async (group) => {
      const asked = { group_by: [group], measures: ['calls'], calls: 'all' };
      const { rows, notes } = await ask(server, 'analyze_calls', asked);
      expect(rows).toEqual([['«ignore-all-rules.test»', 60]]);
      expect(notes.join()).toContain('«»');
    },
  );
});
