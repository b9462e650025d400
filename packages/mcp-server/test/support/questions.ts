import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';
import type { Content } from './ask.ts';

// Questions as people ask them, the tool calls that a sensible agent makes for each, and the truth,
// computed from the records in plain JavaScript.

/** A tool and its arguments. */
export type Ask = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** One question. */
export interface Question {
  readonly ask: string;
  /** What the agent calls; a later call may use an earlier result. */
  readonly calls: readonly (Ask | ((earlier: readonly Content[], calls: readonly Call[]) => Ask))[];
  /** The answer in the last result. */
  readonly answer: (last: Content, all: readonly Content[]) => unknown;
  /** The same from the records. */
  readonly truth: (calls: readonly Call[], earlier: readonly Content[]) => unknown;
}

/** When the questions are asked, and the zone of the records. */
export const askedAt = Date.parse('2026-11-01T15:00:00Z');
export const zone = 'America/New_York';

type Test = (call: Call) => boolean;
type Key = (call: Call) => unknown;

const website: Test = (call) => !isCallExtension(call);
const minutes = (call: Call): number => Number(call.talk_minutes);
const isMissed: Test = (call) => minutes(call) === 0;
const on =
  (from: string, to: string): Test =>
  ({ date_added: at }) =>
    at >= `${from} 00:00:00` && at <= `${to} 23:59:59`;
const october = { from: '2026-10-01', to: '2026-10-31' };
const inOctober = on('2026-10-01', '2026-10-31');
const inSeptember = on('2026-09-01', '2026-09-30');
const sites = (calls: readonly Call[], ...tests: readonly Test[]): Call[] =>
  calls.filter((call) => website(call) && tests.every((test) => test(call)));
const field =
  (name: keyof Call): Key =>
  (call) =>
    call[name] === '' ? null : (call[name] ?? null);
const has =
  (name: keyof Call): Test =>
  (call) =>
    field(name)(call) !== null;
const dateOf = (call: Call): string => call.date_added.slice(0, 10);
const hourOf = (call: Call): number => Number(call.date_added.slice(11, 13));
const weekdayOf = (call: Call): string =>
  ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][
    new Date(`${dateOf(call)}T00:00:00Z`).getUTCDay()
  ] as string;
const tenths = (calls: readonly Call[]): number =>
  calls.reduce((sum, call) => sum + Math.round(minutes(call) * 10), 0) / 10;
const rank = (values: readonly number[], p: number): number | undefined =>
  [...values].sort((a, b) => a - b)[Math.max(1, Math.ceil(p * values.length)) - 1];
const rounded = (value: number): number => Number(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
const share = (part: number, all: number): number => rounded(part / all);
const callerOf = (call: Call): string =>
  String(call.ani)
    .replace(/\D/g, '')
    .replace(/^1(?=\d{10}$)/, '');

function grouped(calls: readonly Call[], key: Key): Map<unknown, Call[]> {
  const groups = new Map<unknown, Call[]>();
  for (const call of calls) {
    const value = key(call);
    const group = groups.get(value);
    if (group) group.push(call);
    else groups.set(value, [call]);
  }

  return groups;
}
const counts = (calls: readonly Call[], key: Key): Record<string, number> =>
  Object.fromEntries([...grouped(calls, key)].map(([value, list]) => [String(value), list.length]));
/** The largest numbers, in falling order: which of two equal groups comes first does not matter. */
const largest = (numbers: readonly number[], n: number): number[] =>
  [...numbers].sort((a, b) => b - a).slice(0, n);

const plain = (cell: unknown): unknown =>
  typeof cell === 'string' ? cell.replace(/^«|»$/g, '') : cell;
const rowsOf = ({ columns, rows }: Content): Record<string, unknown>[] =>
  (rows as unknown[][]).map((row) =>
    Object.fromEntries((columns as string[]).map((column, i) => [column, plain(row[i])])),
  );
const table =
  (key: string, measure = 'calls') =>
  (content: Content): Record<string, unknown> =>
    Object.fromEntries(rowsOf(content).map((row) => [String(row[key]), row[measure]]));
const column =
  (name: string) =>
  (content: Content): unknown[] =>
    rowsOf(content).map((row) => row[name]);
const total = ({ total: number }: Content): unknown => number;
const only =
  (...names: readonly string[]) =>
  (content: Content): unknown =>
    names.map((name) => rowsOf(content)[0]?.[name]);
const says =
  (text: RegExp) =>
  (content: Content): boolean =>
    text.test(String(content.summary));
const yes = (): true => true;

const repeats = (calls: readonly Call[]): number =>
  [
    ...grouped(
      calls.filter((call) => callerOf(call) !== ''),
      callerOf,
    ).values(),
  ].filter((list) => list.length > 1).length;
const callers = (calls: readonly Call[]): number =>
  new Set(calls.map(callerOf).filter((caller) => caller !== '')).size;
/** The first call of each caller, of all there are. */
function firsts(calls: readonly Call[]): Set<Call> {
  const first = new Map<string, Call>();
  for (const call of calls) {
    const caller = callerOf(call);
    const known = first.get(caller);
    if (caller !== '' && (known === undefined || call.date_added < known.date_added))
      first.set(caller, call);
  }

  return new Set(first.values());
}
const lag = (call: Call): number =>
  Math.round(
    (Date.parse(`${call.date_added}Z`) - Date.parse(`${call.displayed_timestamp}Z`)) / 6000,
  ) / 10;
const allDays = (from: string, days: number): string[] =>
  Array.from({ length: days }, (_, i) =>
    new Date(Date.parse(from) + i * 86_400_000).toISOString().slice(0, 10),
  );
const analyze = (args: Readonly<Record<string, unknown>>): Ask => ['analyze_calls', args];
const count = (args: Readonly<Record<string, unknown>>): Ask => ['count_calls', args];

const byHour = (calls: readonly Call[]): Record<string, number> => {
  const found = counts(calls, hourOf);
  return Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, found[hour] ?? 0]));
};
/** A question whose answer says something. */
const told = (ask: string, call: Ask, text: RegExp): Question => ({
  ask,
  calls: [call],
  answer: says(text),
  truth: yes,
});
/** A question about how many of all calls pass a test. */
const countedOfAll = (ask: string, args: Ask[1], test: Test): Question => ({
  ask,
  calls: [count({ ...args, calls: 'all' })],
  answer: total,
  truth: (calls) => calls.filter(test).length,
});
/** A question about the largest groups of calls of websites. */
const most = (
  ask: string,
  limit: number,
  args: Ask[1],
  key: Key,
  ...tests: readonly Test[]
): Question =>
  analyzed(ask, { ...args, limit }, column('calls'), (calls) =>
    largest(Object.values(counts(sites(calls, ...tests), key)), limit),
  );
/** A question about how many calls of websites pass some tests. */
const counted = (ask: string, args: Ask[1], ...tests: readonly Test[]): Question => ({
  ask,
  calls: [count(args)],
  answer: total,
  truth: (calls) => sites(calls, ...tests).length,
});
/** A question of one analysis. */
const analyzed = (
  ask: string,
  args: Ask[1],
  answer: Question['answer'],
  truth: Question['truth'],
): Question => ({ ask, calls: [analyze(args)], answer, truth });
/** A question about how many calls of websites each value has. */
const countedBy = (
  ask: string,
  args: Ask[1],
  name: string,
  key: Key,
  ...tests: readonly Test[]
): Question => analyzed(ask, args, table(name), (calls) => counts(sites(calls, ...tests), key));

/** What people ask about totals, time and change. */
const totals: readonly Question[] = [
  counted('How many calls did we get in October?', october, inOctober),
  countedOfAll('And with the calls that people dialed straight from an ad?', october, inOctober),
  {
    ask: 'Calls through call extensions, September',
    calls: [count({ from: '2026-09', to: '2026-09', calls: 'extensions' })],
    answer: total,
    truth: (calls) => calls.filter((call) => inSeptember(call) && !website(call)).length,
  },
  analyzed(
    'What part of our calls comes straight from ads?',
    { calls: 'all', group_by: 'is_extension' },
    table('is_extension', 'share'),
    (calls) => {
      const part = calls.filter((call) => !website(call)).length;
      return { false: share(calls.length - part, calls.length), true: share(part, calls.length) };
    },
  ),
  analyzed(
    'How did we do yesterday?',
    { from: 'yesterday', to: 'yesterday', measures: 'calls,missed,talk_sum' },
    only('calls', 'missed', 'talk_sum'),
    (calls) => {
      const list = sites(calls, on('2026-10-31', '2026-10-31'));
      return [list.length, list.filter(isMissed).length, tenths(list)];
    },
  ),
  counted('last 7 days?', { from: '7d', to: 'yesterday' }, on('2026-10-25', '2026-10-31')),
  counted(
    'How many conversations of five minutes or more were there?',
    { where: 'talk_minutes >= 5' },
    (call) => minutes(call) >= 5,
  ),
  countedBy('Monthly trend please', { group_by: 'month' }, 'month', (call) =>
    call.date_added.slice(0, 7),
  ),
  analyzed(
    'Give me October day by day',
    { ...october, group_by: 'day', measures: 'calls' },
    table('day'),
    (calls) => {
      const found = counts(sites(calls, inOctober), dateOf);
      return Object.fromEntries(allDays('2026-10-01', 31).map((day) => [day, found[day] ?? 0]));
    },
  ),
  most(
    'What was the busiest day of October?',
    1,
    { ...october, group_by: 'day', order: 'calls desc' },
    dateOf,
    inOctober,
  ),
  countedBy('Which weekday has the most calls?', { group_by: 'weekday' }, 'weekday', weekdayOf),
  analyzed(
    'when does the phone ring? by hour',
    { group_by: 'hour', measures: 'calls' },
    table('hour'),
    (calls) => byHour(sites(calls)),
  ),
  most(
    'At which hour of which weekday do most calls come in?',
    1,
    { group_by: 'weekday,hour', order: 'calls desc' },
    (call) => `${weekdayOf(call)} ${hourOf(call)}`,
  ),
  analyzed(
    'Did October beat September?',
    { ...october, compare: 'previous' },
    only('calls', 'calls_before', 'calls_change', 'calls_change_percent'),
    (calls) => {
      const now = sites(calls, inOctober).length;
      const before = sites(calls, inSeptember).length;
      return [now, before, now - before, rounded(((now - before) / before) * 100)];
    },
  ),
  analyzed(
    'Compare the week of 20 October with the week before it, with call extensions',
    { from: '2026-10-20', to: '2026-10-26', compare: '2026-10-13..2026-10-19', calls: 'all' },
    only('calls', 'calls_before'),
    (calls) => [
      calls.filter(on('2026-10-20', '2026-10-26')).length,
      calls.filter(on('2026-10-13', '2026-10-19')).length,
    ],
  ),
  analyzed(
    'Since when do we have data?',
    { calls: 'all', measures: 'first,last' },
    only('first', 'last'),
    (calls) => {
      const times = calls.map((call) => call.date_added).sort();
      return [times[0], times.at(-1)];
    },
  ),
  counted(
    'How many calls on 15 October, in Los Angeles time?',
    { from: '2026-10-15', to: '2026-10-15', time_zone: 'America/Los_Angeles' },
    ({ date_added: at }) => at >= '2026-10-15 03:00:00' && at < '2026-10-16 03:00:00',
  ),
];

/** What people ask about missed calls and talk. */
const talk: readonly Question[] = [
  analyzed(
    'How many calls did we miss in October?',
    { ...october, measures: 'missed,missed_rate' },
    only('missed', 'missed_rate'),
    (calls) => {
      const list = sites(calls, inOctober);
      const missed = list.filter(isMissed).length;
      return [missed, share(missed, list.length)];
    },
  ),
  analyzed(
    'At what time of day do we miss most?',
    { group_by: 'hour', measures: 'missed' },
    table('hour', 'missed'),
    (calls) => byHour(sites(calls, isMissed)),
  ),
  analyzed(
    'Which city has the worst missed rate, if it has at least 30 calls?',
    {
      where: 'city IS NOT NULL',
      group_by: 'city',
      measures: 'calls,missed_rate',
      having: 'calls >= 30',
      order: 'missed_rate desc',
      limit: 1,
    },
    column('missed_rate'),
    (calls) =>
      largest(
        [...grouped(sites(calls, has('city')), field('city')).values()]
          .filter((list) => list.length >= 30)
          .map((list) => share(list.filter(isMissed).length, list.length)),
        1,
      ),
  ),
  counted(
    'missed after hours (before 8, from 18)?',
    { where: 'missed AND (hour < 8 OR hour >= 18)' },
    isMissed,
    (call) => hourOf(call) < 8 || hourOf(call) >= 18,
  ),
  counted('How busy are weekends?', { where: "weekday IN ('Sat', 'Sun')" }, (call) =>
    /^S/.test(weekdayOf(call)),
  ),
  analyzed(
    'Total talk time in October, in minutes',
    { ...october, measures: 'talk_sum' },
    only('talk_sum'),
    (calls) => [tenths(sites(calls, inOctober))],
  ),
  analyzed(
    'How long is a typical call? And a long one?',
    { measures: 'talk_mean,talk_median,talk_p90' },
    only('talk_mean', 'talk_median', 'talk_p90'),
    (calls) => {
      const list = sites(calls);
      const values = list.map(minutes);
      return [rounded(tenths(list) / list.length), rank(values, 0.5), rank(values, 0.9)];
    },
  ),
  analyzed(
    'Same thing, but only for calls that were answered',
    { where: 'NOT missed', measures: 'talk_median' },
    only('talk_median'),
    (calls) => [rank(sites(calls, (call) => !isMissed(call)).map(minutes), 0.5)],
  ),
  {
    ask: 'What was our longest call in the last four weeks?',
    calls: [
      [
        'list_calls',
        {
          from: '28d',
          to: 'yesterday',
          order: 'talk_minutes desc',
          rows: 1,
          fields: 'talk_minutes',
        },
      ],
    ],
    answer: column('talk_minutes'),
    truth: (calls) => largest(sites(calls, on('2026-10-04', '2026-10-31')).map(minutes), 1),
  },
  {
    ask: 'Show the three latest calls',
    calls: [
      ['list_calls', { order: 'date_added desc', rows: 3, from: '2d', fields: 'date_added' }],
    ],
    answer: column('date_added'),
    truth: (calls) =>
      sites(calls)
        .map((call) => call.date_added)
        .sort()
        .reverse()
        .slice(0, 3),
  },
];

/** What people ask about ads, pages and sources. */
const attribution: readonly Question[] = [
  countedBy(
    'Top campaign in October?',
    { ...october, group_by: 'campaign' },
    'ppc_campaign',
    field('ppc_campaign'),
    inOctober,
  ),
  analyzed(
    'Best keyword in each campaign',
    {
      where: 'ppc_keywords IS NOT NULL',
      group_by: 'campaign,keyword',
      top_per: 1,
      measures: 'calls',
    },
    table('ppc_campaign'),
    (calls) =>
      Object.fromEntries(
        [...grouped(sites(calls, has('ppc_keywords')), field('ppc_campaign'))].map(
          ([campaign, list]) => [
            String(campaign),
            largest(Object.values(counts(list, field('ppc_keywords'))), 1)[0],
          ],
        ),
      ),
  ),
  analyzed(
    'Which keywords bring people who talk longest on average (50 calls or more)?',
    {
      group_by: 'keyword',
      measures: 'talk_mean,calls',
      having: 'calls >= 50',
      order: 'talk_mean desc',
      limit: 3,
    },
    column('talk_mean'),
    (calls) =>
      largest(
        [...grouped(sites(calls), field('ppc_keywords')).values()]
          .filter((list) => list.length >= 50)
          .map((list) => rounded(tenths(list) / list.length)),
        3,
      ),
  ),
  most(
    'ad groups, most calls first',
    5,
    { group_by: 'ad group', measures: 'calls' },
    field('ppc_adgroup'),
  ),
  analyzed(
    'Which landing pages make people call, and do we pick up?',
    { group_by: 'landing page', measures: 'calls,missed' },
    table('landing_page', 'missed'),
    (calls) =>
      Object.fromEntries(
        [...grouped(sites(calls), field('landing_page'))].map(([page, list]) => [
          String(page),
          list.filter(isMissed).length,
        ]),
      ),
  ),
  most(
    'Where do callers come from on the web?',
    3,
    { group_by: 'source', measures: 'calls' },
    field('referrer'),
  ),
  analyzed(
    'Which campaign lost most against September?',
    {
      ...october,
      group_by: 'campaign',
      compare: 'previous',
      measures: 'calls',
      order: 'calls_change',
      limit: 1,
    },
    column('calls_change'),
    (calls) => {
      const [now, before] = [inOctober, inSeptember].map((test) =>
        counts(sites(calls, test), field('ppc_campaign')),
      ) as [Record<string, number>, Record<string, number>];
      const names = [...new Set([...Object.keys(now), ...Object.keys(before)])];
      return [Math.min(...names.map((name) => (now[name] ?? 0) - (before[name] ?? 0)))];
    },
  ),
  {
    ask: 'What does a call cost us? Brand cost 900 dollars, Generic 4,100',
    calls: [
      (_, calls) => {
        const names = [...new Set(calls.map((call) => call.ppc_campaign))];
        const [brand, generic] = ['Brand', 'Generic'].map((word) =>
          names.find((name) => name?.includes(word)),
        );
        return analyze({
          group_by: 'campaign',
          measures: 'calls',
          spend: [`${brand}=900`, `${generic}=4,100`],
        });
      },
    ],
    answer: (content) =>
      Object.fromEntries(
        rowsOf(content).flatMap((row) =>
          row.spend === null ? [] : [[row.spend, row.cost_per_call]],
        ),
      ),
    truth: (calls) => {
      // Those through call extensions were paid for, too.
      const found = Object.entries(counts(calls, field('ppc_campaign')));
      const callsOf = (word: string) => found.find(([name]) => name.includes(word))?.[1] ?? 0;
      return { 900: rounded(900 / callsOf('Brand')), 4100: rounded(4100 / callsOf('Generic')) };
    },
  },
  countedBy(
    'How are the match types doing?',
    { group_by: 'match type' },
    'ppc_match_type',
    field('ppc_match_type'),
  ),
  countedBy(
    'Mobile or desktop ads?',
    { group_by: 'device', measures: 'calls' },
    'vt_device',
    field('vt_device'),
  ),
  most(
    'What are the top three browsers of callers?',
    3,
    { group_by: 'browser', measures: 'calls' },
    field('browser'),
  ),
  countedBy('How sure are the matches to web visits?', { group_by: 'rank' }, 'rank', field('rank')),
  analyzed(
    'What made the number on the page change?',
    { group_by: 'activity_type', measures: 'calls' },
    (content) => Object.values(table('activity_type')(content)).sort(),
    (calls) => Object.values(counts(sites(calls), field('activity_type_id'))).sort(),
  ),
  countedBy(
    'Which of our tracking numbers is called most?',
    { group_by: 'label', measures: 'calls' },
    'phone_label',
    field('phone_label'),
  ),
  counted(
    'Calls from search ads on the emergency page that lasted over ten minutes',
    { where: "landing_page = '/emergency' AND talk_minutes > 10 AND ppc_gclid IS NOT NULL" },
    (call) => call.landing_page === '/emergency' && minutes(call) > 10 && has('ppc_gclid')(call),
  ),
  countedBy(
    'Texas and California, at least two minutes, by campaign',
    {
      where: "state IN ('TX', 'CA') AND talk_minutes >= 2",
      group_by: 'campaign',
      measures: 'calls',
    },
    'ppc_campaign',
    field('ppc_campaign'),
    (call) => /^(?:TX|CA)$/.test(String(call.state)) && minutes(call) >= 2,
  ),
];

/** What people ask about uploads, data quality and numbers that differ. */
const quality: readonly Question[] = [
  countedBy(
    'How much of the ad data is final?',
    { group_by: 'ppc_status' },
    'ppc_status',
    field('ppc_status'),
  ),
  countedOfAll(
    'How many calls still wait for their keyword?',
    { where: "ppc_status IN ('Not Processed', 'Waiting For Keyword')" },
    ({ ppc_status: status }) => status === 'Not Processed' || status === 'Waiting For Keyword',
  ),
  countedOfAll(
    'Which calls can go to Google Ads today? (click within 90 days, one minute, processed)',
    {
      where:
        "ppc_gclid IS NOT NULL AND talk_minutes >= 1 AND ppc_status = 'Processed' AND displayed_timestamp >= '2026-08-03'",
    },
    (call) =>
      has('ppc_gclid')(call) &&
      minutes(call) >= 1 &&
      call.ppc_status === 'Processed' &&
      String(call.displayed_timestamp) >= '2026-08-03 00:00:00',
  ),
  counted(
    'Do we have ad clicks without a campaign?',
    { where: 'ppc_gclid IS NOT NULL AND ppc_campaign IS NULL' },
    (call) => has('ppc_gclid')(call) && field('ppc_campaign')(call) === null,
  ),
  counted(
    'How many calls have no city?',
    { where: 'city IS NULL' },
    (call) => field('city')(call) === null,
  ),
  analyzed(
    'In how many cities do our callers live?',
    { measures: 'distinct(city)' },
    only('distinct_city'),
    (calls) => [grouped(sites(calls, has('city')), field('city')).size],
  ),
  told(
    'The dashboard shows a higher number for October. Why?',
    count(october),
    /through call extensions left out|call extensions left out; calls="all" adds them/,
  ),
  counted(
    'My export of October ends with the 30th: how many calls should it have?',
    { ...october, to: '2026-10-30' },
    on('2026-10-01', '2026-10-30'),
  ),
  {
    ask: 'On which days in October was there no call from the Houston campaign?',
    calls: [
      (_, calls) => {
        const name = calls.find((call) => call.ppc_campaign?.includes('Houston'))?.ppc_campaign;
        return analyze({
          ...october,
          where: `ppc_campaign = '${name}'`,
          group_by: 'day',
          having: 'calls = 0',
          measures: 'calls',
        });
      },
    ],
    answer: column('day'),
    truth: (calls) => {
      const found = new Set(
        sites(calls, inOctober, (call) => call.ppc_campaign?.includes('Houston') === true).map(
          dateOf,
        ),
      );
      return allDays('2026-10-01', 31).filter((day) => !found.has(day));
    },
  },
];

/** What people ask about callers and single calls. */
const people: readonly Question[] = [
  analyzed(
    'How many different people called in October?',
    { ...october, measures: 'callers' },
    only('callers'),
    (calls) => [callers(sites(calls, inOctober))],
  ),
  analyzed(
    'How many of them called more than once?',
    { ...october, measures: 'repeat_callers' },
    only('repeat_callers'),
    (calls) => [repeats(sites(calls, inOctober))],
  ),
  analyzed(
    'New callers in October?',
    { ...october, measures: 'first_time_callers', calls: 'all' },
    only('first_time_callers'),
    (calls) => [[...firsts(calls)].filter(inOctober).length],
  ),
  analyzed(
    'Do returning callers talk longer?',
    { group_by: 'caller_type', measures: 'calls', calls: 'all' },
    (content) => rowsOf(content).find((row) => row.caller_type === 'first')?.calls,
    (calls) => firsts(calls).size,
  ),
  analyzed(
    'Who calls most often?',
    { group_by: 'caller', limit: 1, calls: 'all' },
    column('calls'),
    (calls) => largest(Object.values(counts(calls, callerOf)), 1),
  ),
  {
    ask: 'Show me everything that caller did in the last week',
    calls: [
      analyze({ group_by: 'caller', limit: 1, from: '7d', to: 'yesterday' }),
      ([first]) => [
        'list_calls',
        {
          caller: first?.rows[0]?.[0],
          from: '7d',
          to: 'yesterday',
          fields: 'date_added,landing_page',
          rows: 5,
        },
      ],
    ],
    answer: ({ total: number }, [first]) => [number === first?.rows[0]?.[1], number],
    truth: (calls) => [
      true,
      largest(Object.values(counts(sites(calls, on('2026-10-25', '2026-10-31')), callerOf)), 1)[0],
    ],
  },
  analyzed(
    'How long does it take from the visit to the call?',
    { measures: 'lag_median' },
    only('lag_median'),
    (calls) => [
      rank(
        sites(calls, (call) => String(call.displayed_timestamp) <= call.date_added).map(lag),
        0.5,
      ),
    ],
  ),
  {
    ask: 'Tell me about this call',
    calls: [
      (_, calls) => ['get_call', { sid: sites(calls)[7]?.sid, fields: 'date_added,talk_minutes' }],
    ],
    answer: ({ call }) => call,
    truth: (calls) => {
      const [call] = sites(calls).slice(7) as [Call];
      return { sid: call.sid, date_added: call.date_added, talk_minutes: minutes(call) };
    },
  },
  most(
    'From which states do people call?',
    4,
    { group_by: 'state', measures: 'calls' },
    field('state'),
  ),
  {
    ask: 'Which of our numbers can receive texts?',
    calls: [['list_sms_numbers', {}]],
    answer: (content) => rowsOf(content).map((row) => row.sms_enabled),
    truth: () => [true, true, false],
  },
];

/** What the data can tell about itself, and what it cannot tell. */
const limits: readonly Question[] = [
  {
    ask: 'Is the data up to date? What is the last call?',
    calls: [['describe_data', { fields: 'rank' }]],
    answer: ({ summary }) => /the last (\S+ \S+),/.exec(String(summary))?.[1],
    truth: (calls) =>
      calls
        .map((call) => call.date_added)
        .sort()
        .at(-1),
  },
  {
    ask: 'What does rank mean?',
    calls: [['describe_data', { fields: 'rank' }]],
    answer: ({ rows }) => /confiden/.test(String(rows[0]?.[1])),
    truth: yes,
  },
  told(
    'How much revenue did the calls bring?',
    ['describe_data', { fields: 'talk_minutes' }],
    /Not in the data: revenue, sales and bookings/,
  ),
  told(
    'Which agent answers best?',
    ['describe_data', { fields: 'talk_minutes' }],
    /Not in the data: .*the agents who answered/,
  ),
  told(
    'What did people complain about on the phone?',
    ['describe_data', { fields: 'talk_minutes' }],
    /Not in the data: .*transcripts, topics/,
  ),
];

/** All questions. */
export const questions: readonly Question[] = [
  ...totals,
  ...talk,
  ...attribution,
  ...quality,
  ...people,
  ...limits,
];
