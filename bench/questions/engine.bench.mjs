// What the engine in plain JavaScript costs over a million calls in memory: CPU of this process, as
// a ratio to a loop that was written by hand for the same numbers, in the same run. Ways take turns
// within each round; figures are medians of the rounds.
import { createAnswers, planQuestion } from '@call-attribution/questions';
import { calls } from '../calls.mjs';
import { limit, median, timed } from '../figures.mjs';
import { byHand } from './by-hand.mjs';

const count = Number(process.env.CALLS_BENCH_CALLS ?? 1_000_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const fields = [
  'sid',
  'date_added',
  'talk_minutes',
  'channel',
  'ani',
  'ppc_campaign',
  'ppc_keywords',
  'landing_page',
  'referrer',
];

// Each call has strings of its own, as calls that were read have.
const list = [];
for (const call of calls(0, count))
  list.push(
    JSON.parse(JSON.stringify(Object.fromEntries(fields.map((name) => [name, call[name]])))),
  );

const three = ['calls', 'missed', 'missed_rate'];
const page = [
  { measures: ['calls', 'missed', 'talk_mean'] },
  { groupBy: ['day'], measures: three },
  ...['campaign', 'keyword', 'landing page', 'referrer', 'channel'].map((field) => ({
    groupBy: [field],
    measures: three,
    limit: 100,
  })),
];

/**
 * Each case: the questions, how many measures they have, and the most µs of CPU a call (and
 * measure).
 */
const cases = {
  'calls by campaign': { questions: [{ groupBy: ['campaign'], measures: ['calls'] }], most: 2 },
  'five measures by campaign': {
    questions: [
      {
        groupBy: ['campaign'],
        measures: ['calls', 'missed', 'missed_rate', 'talk_sum', 'talk_median'],
      },
    ],
    most: 2 * 5,
  },
  'callers by campaign': { questions: [{ groupBy: ['campaign'], measures: ['callers'] }], most: 2 },
  'first-time callers by month': {
    questions: [{ groupBy: ['month'], measures: ['first_time_callers'] }],
    most: 2,
  },
  'seven questions of the page': { questions: page, most: 3 },
};

const used = {};
const note = (name, { cpu }) => {
  used[name] = [...(used[name] ?? []), (cpu * 1000) / count];
};
for (let round = 0; round < rounds; round += 1) {
  for (const [name, { questions }] of Object.entries(cases)) {
    globalThis.gc?.();
    let answers;
    const engine = async () => {
      const running = createAnswers(questions.map((question) => planQuestion(question)));
      await running.addAll(list);
      answers = running.answers();
    };
    note(name, await timed(engine));
    globalThis.gc?.();
    let own;
    const hand = async () => {
      own = byHand[name](list);
    };
    note(`${name}, by hand`, await timed(hand));
    const found = answers.map(({ calls, groups }) => [calls, groups]);
    if (JSON.stringify(found) !== JSON.stringify(own))
      throw new Error(
        `${name}: ${JSON.stringify(found)} by the engine, ${JSON.stringify(own)} by hand`,
      );
  }
}
for (const [name, { most }] of Object.entries(cases)) {
  const own = median(used[name]);
  const hand = median(used[`${name}, by hand`]);
  console.log(
    `${name}: ${own.toFixed(2)} µs a call, ${hand.toFixed(2)} by hand, ratio ${(own / hand).toFixed(2)}`,
  );
  limit(`${name}: µs of CPU a call`, own, { most });
}
