import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  answerQuestion,
  createAnswers,
  planQuestion,
  type Question,
  type QuestionError,
} from '../src/index.ts';

const [plain] = fixtureCalls(1);
const call = (sid: string, values: Readonly<Record<string, unknown>>): Call =>
  Object.assign({}, plain, { sid, state: 'TX' }, values);

// Thursday to Sunday.
const calls = [
  call('a', {
    date_added: '2026-10-01 10:00:00',
    ppc_campaign: 'Generic',
    rank: '1',
    vt_device: 'desktop',
  }),
  call('b', {
    date_added: '2026-10-02 11:00:00',
    ppc_campaign: '',
    rank: '5',
    vt_device: 'desktop',
  }),
  call('c', {
    date_added: '2026-10-03 12:00:00',
    ppc_campaign: null,
    rank: '7',
    vt_device: 'tablet',
  }),
  call('d', { date_added: '2026-10-04 13:00:00', ppc_campaign: null, rank: null, vt_device: null }),
];
const ask = (question: Question, of: readonly Call[] = calls) => answerQuestion(question, of);
const said = ({ notes }: Pick<Answer, 'notes'>): string[] => notes.map(({ message }) => message);
const refusalOf = async (question: Question): Promise<string> =>
  ask(question).then(
    () => '',
    (error: QuestionError) => error.message,
  );

test('a note has a code beside its sentence', async () => {
  expect((await ask({ period: '2026-10' })).notes.map(({ code }) => code)).toEqual([
    'no_time_zone',
    'last_call',
  ]);
});

describe('a field that no call has', () => {
  const lacked = async (question: Question) =>
    said(await ask(question)).filter((note) => note.includes('only v3'));

  test('is not said of calls that a condition or a limit has chosen', async () => {
    expect(await lacked({ groupBy: ['campaign'], where: 'campaign is null' })).toEqual([]);
    expect(await lacked({ groupBy: ['campaign'], where: "weekday = 'Sun'" })).toEqual([]);
    expect(await lacked({ groupBy: ['campaign'], limit: 1 })).toEqual([]);
  });
});

describe('a condition that is true of no call says what the field holds', () => {
  test.each<[Question, string]>([
    [{ where: "state IN ('TY', 'X')" }, "state is never 'TY', 'X'; nearest: 'TX' (4 calls)."],
    [
      { measures: ["share(campaign = 'Genric')"] },
      "ppc_campaign is never 'Genric'; nearest: 'Generic' (1 call).",
    ],
    [
      { where: "device = 'mobile'", personal: 'show' },
      "vt_device is never 'mobile'; nearest: 'desktop' (2 calls), 'tablet' (1 call).",
    ],
  ])('%j', async (question, note) => {
    expect(said(await ask(question))).toContain(note);
    const part = createAnswers([planQuestion(question)]);
    const whole = createAnswers([planQuestion(question)]);
    for (const [i, each] of calls.entries()) (i % 2 === 0 ? part : whole).add(each);
    whole.merge(part);
    expect(said(whole.answers()[0] as Answer)).toContain(note);
  });

  test('what visitors typed is shown to nobody who has not asked for it', async () => {
    expect(said(await ask({ where: "device = 'mobile'" }))).toEqual([]);
  });

  test('where another part of the condition or the period is the reason, nothing is said', async () => {
    expect(said(await ask({ where: "campaign = 'generic' AND rank = 5" }))).toEqual([]);
    expect(
      said(await ask({ measures: ["count(campaign = 'generic')"], where: 'rank = 5' })),
    ).toEqual([]);
  });
});

test('an empty value is none of the different values', async () => {
  expect((await ask({ measures: ['distinct(campaign)', 'without(campaign)'] })).rows).toEqual([
    { distinct_ppc_campaign: 1, without_ppc_campaign: 3 },
  ]);
});

test.each([
  ["weekday > 'fri'", 2],
  ["weekday <= 'Thu'", 1],
  ["weekday BETWEEN 'Mon' AND 'Fri'", 2],
  ["weekday > 'Sun'", 0],
] as const)('%s is in the order of a week', async (where, count) => {
  expect((await ask({ where })).calls).toBe(count);
});

describe('names of columns', () => {
  test('two columns of one name: the measure that is meant is named', async () => {
    expect(await refusalOf({ groupBy: ['missed'], measures: ['missed'] })).toContain(
      '"missed as how_many"',
    );
    expect(await refusalOf({ groupBy: ['missed'], measures: ['calls as missed'] })).toContain(
      '"calls as how_many"',
    );
  });

  test.each(['__proto__', 'constructor'])('%s is none, and no field either', async (name) => {
    expect(await refusalOf({ measures: [`calls as ${name}`] })).toBe(
      `A column cannot be called ${name}: every object in JavaScript has it. Choose another name.`,
    );
    expect(await refusalOf({ groupBy: [name] })).toContain(
      `There is no field "${name}" to group by.`,
    );
    expect(await refusalOf({ where: `${name} = 1` })).toContain(`There is no field ${name}.`);
    expect(await refusalOf({ where: `state ${name} 1` })).not.toContain('native code');
  });
});
