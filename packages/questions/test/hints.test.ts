import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { answerQuestion, parseCondition, planQuestion } from '../src/index.ts';

const [plain] = fixtureCalls(1);
const frequent = (campaign: string, calls: number): Call[] =>
  Array.from({ length: calls }, (_, i) =>
    Object.assign({}, plain, {
      sid: `${campaign} ${i}`,
      date_added: '2026-10-05 10:00:00',
      ppc_campaign: campaign,
      state: 'TX',
    }),
  );

const calls = [
  ...frequent('Harbor Dental | Generic', 30),
  ...frequent('Harbor Dental | Brand', 20),
  ...frequent('Harbor Dental | Remarketing', 3),
  ...frequent('Harbor Dental | Remarketing Lists', 9),
  ...frequent('Brand', 1),
];

const hintOf = async (where: string): Promise<string | undefined> =>
  (await answerQuestion({ where }, calls)).notes.find(({ code }) => code === 'no_match')?.message;

describe('of a text that no call has, the nearest come first, without numbers of other calls', () => {
  test.each([
    ["campaign = 'harbor dental brand'", "nearest: 'Harbor Dental | Brand', 'Brand'."],
    [
      "campaign = 'Remarkting'",
      "nearest: 'Harbor Dental | Remarketing', 'Harbor Dental | Remarketing Lists'.",
    ],
    [
      "campaign = 'remarketing'",
      "nearest: 'Harbor Dental | Remarketing', 'Harbor Dental | Remarketing Lists'.",
    ],
    ["campaign LIKE '%genric%'", "nearest: 'Harbor Dental | Generic'."],
    ["state = 'Texas'", "nearest: 'TX'."],
    [
      "campaign = 'Radio'",
      "its values: 'Harbor Dental | Generic', 'Harbor Dental | Brand', 'Harbor Dental | Remarketing Lists'.",
    ],
  ])('%s', async (where, hint) => {
    expect(await hintOf(where)).toContain(hint);
  });
});

describe('what is not in the data is said so, with the way to bring it', () => {
  test.each([
    ['agent', 'Who answered a call is not in the data.'],
    ['revenue', 'a file of outcomes brings the measures outcomes and revenue'],
    ['cost', 'brings the measures spend and cost_per_call'],
    ['outgoing', 'All calls are incoming ones: outgoing calls are not in the data.'],
    ['direction', 'outgoing calls are not in the data'],
    ['impressions', 'Only calls are in the data'],
  ])('%s, in a condition, as a group and as a measure', (name, sentence) => {
    const read = parseCondition(`${name} = 'x'`);
    expect(read.ok ? '' : read.problem.message).toContain(sentence);
    expect(() => planQuestion({ groupBy: [name] })).toThrow(sentence);
    // These have a word of their own where spend and outcomes may be given.
    if (!['cost', 'revenue'].includes(name))
      expect(() => planQuestion({ measures: [name] })).toThrow(sentence);
  });

  test('a definition of that name is what it says', () => {
    const definitions = { agent: 'talk_minutes > 5' };
    expect(() => planQuestion({ where: 'agent', definitions })).not.toThrow();
  });

  test.each([
    ['caller_city', 'Did you mean city?'],
    ['talk_minuts', 'Did you mean talk_minutes?'],
    ['zebra', 'Some of the fields: campaign, keyword, source, channel,'],
  ])('%s: which field was meant, or what people group by', (name, sentence) => {
    expect(() => planQuestion({ groupBy: [name] })).toThrow(sentence);
    expect(() => planQuestion({ where: `${name} = 'x'` })).toThrow(sentence);
  });

  test.each([
    ['missed_calls', 'Did you mean missed?'],
    ['answered_calls', 'Did you mean answered?'],
    ['total_calls', 'Did you mean calls?'],
    ['number_of_callers', 'Did you mean callers?'],
    ['mised', 'Did you mean missed?'],
    ['zebra_calls', 'Measures: calls, share,'],
  ])('%s: which measure was meant', (name, sentence) => {
    expect(() => planQuestion({ measures: [name] })).toThrow(sentence);
  });
});

test.each(['groupBy', 'measures'])('one name where %s is a list is refused', (option) => {
  expect(() => planQuestion({ [option]: 'campaign' })).toThrow(
    `${option} is a string; expected a list: ${option}: ['campaign'].`,
  );
});
