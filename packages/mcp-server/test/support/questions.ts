import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';

// Questions as people ask them, the tool calls that a sensible agent makes for each, and the truth, computed from the
// records in plain JavaScript.

/** The data of a tool result. */
// biome-ignore lint/suspicious/noExplicitAny: each question knows the shape of its own answer.
export type Content = Record<string, any>;

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

const plain = (cell: unknown): unknown => (typeof cell === 'string' ? cell.replace(/^«|»$/g, '') : cell);
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
    if (caller !== '' && (known === undefined || call.date_added < known.date_added)) first.set(caller, call);
  }
  return new Set(first.values());
}
const lag = (call: Call): number =>
  Math.round((Date.parse(`${call.date_added}Z`) - Date.parse(`${call.displayed_timestamp}Z`)) / 6000) / 10;
const allDays = (from: string, days: number): string[] =>
  Array.from({ length: days }, (_, i) =>
    new Date(Date.parse(from) + i * 86_400_000).toISOString().slice(0, 10),
  );
const analyze = (args: Readonly<Record<string, unknown>>): Ask => ['analyze_calls', args];
const count = (args: Readonly<Record<string, unknown>>): Ask => ['count_calls', args];

/** What people ask about totals, time and change. */
const totals: readonly Question[] = [
  {
    ask: 'How many calls did we get in October?',
    calls: [count(october)],
    answer: total,
    truth: (calls) => sites(calls, inOctober).length,
  },
  {
    ask: 'And with the calls that people dialed straight from an ad?',
    calls: [count({ ...october, calls: 'all' })],
    answer: total,
    truth: (calls) => calls.filter(inOctober).length,
  },
  {
    ask: 'Calls through call extensions, September',
    calls: [count({ from: '2026-09', to: '2026-09', calls: 'extensions' })],
    answer: total,
    truth: (calls) => calls.filter((call) => inSeptember(call) && !website(call)).length,
  },
  {
    ask: 'What part of our calls comes straight from ads?',
    calls: [analyze({ calls: 'all', group_by: 'is_extension' })],
    answer: table('is_extension', 'share'),
    truth: (calls) => {
      const part = calls.filter((call) => !website(call)).length;
      return { false: share(calls.length - part, calls.length), true: share(part, calls.length) };
    },
  },
  {
    ask: 'How did we do yesterday?',
    calls: [analyze({ from: 'yesterday', to: 'yesterday', measures: 'calls,missed,talk_sum' })],
    answer: only('calls', 'missed', 'talk_sum'),
    truth: (calls) => {
      const list = sites(calls, on('2026-10-31', '2026-10-31'));
      return [list.length, list.filter(isMissed).length, tenths(list)];
    },
  },
  {
    ask: 'last 7 days?',
    calls: [count({ from: '7d', to: 'yesterday' })],
    answer: total,
    truth: (calls) => sites(calls, on('2026-10-25', '2026-10-31')).length,
  },
  {
    ask: 'How many conversations of five minutes or more were there?',
    calls: [count({ where: 'talk_minutes >= 5' })],
    answer: total,
    truth: (calls) => sites(calls, (call) => minutes(call) >= 5).length,
  },
  {
    ask: 'Monthly trend please',
    calls: [analyze({ group_by: 'month' })],
    answer: table('month'),
    truth: (calls) => counts(sites(calls), (call) => call.date_added.slice(0, 7)),
  },
  {
    ask: 'Give me October day by day',
    calls: [analyze({ ...october, group_by: 'day', measures: 'calls' })],
    answer: table('day'),
    truth: (calls) => {
      const found = counts(sites(calls, inOctober), dateOf);
      return Object.fromEntries(allDays('2026-10-01', 31).map((day) => [day, found[day] ?? 0]));
    },
  },
  {
    ask: 'What was the busiest day of October?',
    calls: [analyze({ ...october, group_by: 'day', order: 'calls desc', limit: 1 })],
    answer: column('calls'),
    truth: (calls) => largest(Object.values(counts(sites(calls, inOctober), dateOf)), 1),
  },
  {
    ask: 'Which weekday has the most calls?',
    calls: [analyze({ group_by: 'weekday' })],
    answer: table('weekday'),
    truth: (calls) => counts(sites(calls), weekdayOf),
  },
  {
    ask: 'when does the phone ring? by hour',
    calls: [analyze({ group_by: 'hour', measures: 'calls' })],
    answer: table('hour'),
    truth: (calls) => {
      const found = counts(sites(calls), hourOf);
      return Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, found[hour] ?? 0]));
    },
  },
  {
    ask: 'At which hour of which weekday do most calls come in?',
    calls: [analyze({ group_by: 'weekday,hour', order: 'calls desc', limit: 1 })],
    answer: column('calls'),
    truth: (calls) =>
      largest(Object.values(counts(sites(calls), (call) => `${weekdayOf(call)} ${hourOf(call)}`)), 1),
  },
  {
    ask: 'Did October beat September?',
    calls: [analyze({ ...october, compare: 'previous' })],
    answer: only('calls', 'calls_before', 'calls_change'),
    truth: (calls) => {
      const [now, before] = [sites(calls, inOctober).length, sites(calls, inSeptember).length];
      return [now, before, rounded(now / 31 - before / 30)];
    },
  },
  {
    ask: 'Compare the week of 20 October with the week before it, with call extensions',
    calls: [
      analyze({ from: '2026-10-20', to: '2026-10-26', compare: '2026-10-13..2026-10-19', calls: 'all' }),
    ],
    answer: only('calls', 'calls_before'),
    truth: (calls) => [
      calls.filter(on('2026-10-20', '2026-10-26')).length,
      calls.filter(on('2026-10-13', '2026-10-19')).length,
    ],
  },
  {
    ask: 'Since when do we have data?',
    calls: [analyze({ calls: 'all', measures: 'first,last' })],
    answer: only('first', 'last'),
    truth: (calls) => {
      const times = calls.map((call) => call.date_added).sort();
      return [times[0], times.at(-1)];
    },
  },
  {
    ask: 'How many calls on 15 October, in Los Angeles time?',
    calls: [count({ from: '2026-10-15', to: '2026-10-15', time_zone: 'America/Los_Angeles' })],
    answer: total,
    truth: (calls) =>
      sites(calls, ({ date_added: at }) => at >= '2026-10-15 03:00:00' && at < '2026-10-16 03:00:00').length,
  },
];

/** What people ask about missed calls and talk. */
const talk: readonly Question[] = [
  {
    ask: 'How many calls did we miss in October?',
    calls: [analyze({ ...october, measures: 'missed,missed_rate' })],
    answer: only('missed', 'missed_rate'),
    truth: (calls) => {
      const list = sites(calls, inOctober);
      const missed = list.filter(isMissed).length;
      return [missed, share(missed, list.length)];
    },
  },
  {
    ask: 'At what time of day do we miss most?',
    calls: [analyze({ group_by: 'hour', measures: 'missed' })],
    answer: table('hour', 'missed'),
    truth: (calls) => {
      const found = counts(sites(calls, isMissed), hourOf);
      return Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, found[hour] ?? 0]));
    },
  },
  {
    ask: 'Which city has the worst missed rate, if it has at least 30 calls?',
    calls: [
      analyze({
        where: 'city IS NOT NULL',
        group_by: 'city',
        measures: 'calls,missed_rate',
        having: 'calls >= 30',
        order: 'missed_rate desc',
        limit: 1,
      }),
    ],
    answer: column('missed_rate'),
    truth: (calls) =>
      largest(
        [
          ...grouped(
            sites(calls, (call) => field('city')(call) !== null),
            field('city'),
          ).values(),
        ]
          .filter((list) => list.length >= 30)
          .map((list) => share(list.filter(isMissed).length, list.length)),
        1,
      ),
  },
  {
    ask: 'missed after hours (before 8, from 18)?',
    calls: [count({ where: 'missed AND (hour < 8 OR hour >= 18)' })],
    answer: total,
    truth: (calls) => sites(calls, isMissed, (call) => hourOf(call) < 8 || hourOf(call) >= 18).length,
  },
  {
    ask: 'How busy are weekends?',
    calls: [count({ where: "weekday IN ('Sat', 'Sun')" })],
    answer: total,
    truth: (calls) => sites(calls, (call) => /^S/.test(weekdayOf(call))).length,
  },
  {
    ask: 'Total talk time in October, in minutes',
    calls: [analyze({ ...october, measures: 'talk_sum' })],
    answer: only('talk_sum'),
    truth: (calls) => [tenths(sites(calls, inOctober))],
  },
  {
    ask: 'How long is a typical call? And a long one?',
    calls: [analyze({ measures: 'talk_mean,talk_median,talk_p90' })],
    answer: only('talk_mean', 'talk_median', 'talk_p90'),
    truth: (calls) => {
      const list = sites(calls);
      const values = list.map(minutes);
      return [rounded(tenths(list) / list.length), rank(values, 0.5), rank(values, 0.9)];
    },
  },
  {
    ask: 'Same thing, but only for calls that were answered',
    calls: [analyze({ where: 'NOT missed', measures: 'talk_median' })],
    answer: only('talk_median'),
    truth: (calls) => [rank(sites(calls, (call) => !isMissed(call)).map(minutes), 0.5)],
  },
  {
    ask: 'What was our longest call in the last four weeks?',
    calls: [
      [
        'list_calls',
        { from: '28d', to: 'yesterday', order: 'talk_minutes desc', rows: 1, fields: 'talk_minutes' },
      ],
    ],
    answer: (content) => column('talk_minutes')(content),
    truth: (calls) => largest(sites(calls, on('2026-10-04', '2026-10-31')).map(minutes), 1),
  },
  {
    ask: 'Show the three latest calls',
    calls: [['list_calls', { order: 'date_added desc', rows: 3, from: '2d', fields: 'date_added' }]],
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
  {
    ask: 'Top campaign in October?',
    calls: [analyze({ ...october, group_by: 'campaign' })],
    answer: table('ppc_campaign'),
    truth: (calls) => counts(sites(calls, inOctober), field('ppc_campaign')),
  },
  {
    ask: 'Best keyword in each campaign',
    calls: [
      analyze({
        where: 'ppc_keywords IS NOT NULL',
        group_by: 'campaign,keyword',
        top_per: 1,
        measures: 'calls',
      }),
    ],
    answer: table('ppc_campaign'),
    truth: (calls) =>
      Object.fromEntries(
        [
          ...grouped(
            sites(calls, (call) => field('ppc_keywords')(call) !== null),
            field('ppc_campaign'),
          ),
        ].map(([campaign, list]) => [
          String(campaign),
          largest(Object.values(counts(list, field('ppc_keywords'))), 1)[0],
        ]),
      ),
  },
  {
    ask: 'Which keywords bring people who talk longest on average (50 calls or more)?',
    calls: [
      analyze({
        group_by: 'keyword',
        measures: 'talk_mean,calls',
        having: 'calls >= 50',
        order: 'talk_mean desc',
        limit: 3,
      }),
    ],
    answer: column('talk_mean'),
    truth: (calls) =>
      largest(
        [...grouped(sites(calls), field('ppc_keywords')).values()]
          .filter((list) => list.length >= 50)
          .map((list) => rounded(tenths(list) / list.length)),
        3,
      ),
  },
  {
    ask: 'ad groups, most calls first',
    calls: [analyze({ group_by: 'ad group', limit: 5, measures: 'calls' })],
    answer: column('calls'),
    truth: (calls) => largest(Object.values(counts(sites(calls), field('ppc_adgroup'))), 5),
  },
  {
    ask: 'Which landing pages make people call, and do we pick up?',
    calls: [analyze({ group_by: 'landing page', measures: 'calls,missed' })],
    answer: table('landing_page', 'missed'),
    truth: (calls) =>
      Object.fromEntries(
        [...grouped(sites(calls), field('landing_page'))].map(([page, list]) => [
          String(page),
          list.filter(isMissed).length,
        ]),
      ),
  },
  {
    ask: 'Where do callers come from on the web?',
    calls: [analyze({ group_by: 'source', limit: 3, measures: 'calls' })],
    answer: column('calls'),
    truth: (calls) => largest(Object.values(counts(sites(calls), field('referrer'))), 3),
  },
  {
    ask: 'Which campaign lost most against September?',
    calls: [
      analyze({
        ...october,
        group_by: 'campaign',
        compare: 'previous',
        measures: 'calls',
        order: 'calls_change',
        limit: 1,
      }),
    ],
    answer: column('calls_change'),
    truth: (calls) => {
      const [now, before] = [inOctober, inSeptember].map((test) =>
        counts(sites(calls, test), field('ppc_campaign')),
      ) as [Record<string, number>, Record<string, number>];
      const names = [...new Set([...Object.keys(now), ...Object.keys(before)])];
      return [rounded(Math.min(...names.map((name) => (now[name] ?? 0) / 31 - (before[name] ?? 0) / 30)))];
    },
  },
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
        rowsOf(content).flatMap((row) => (row.spend === null ? [] : [[row.spend, row.cost_per_call]])),
      ),
    truth: (calls) => {
      const found = Object.entries(counts(sites(calls), field('ppc_campaign')));
      const callsOf = (word: string) => found.find(([name]) => name.includes(word))?.[1] ?? 0;
      return { 900: rounded(900 / callsOf('Brand')), 4100: rounded(4100 / callsOf('Generic')) };
    },
  },
  {
    ask: 'How are the match types doing?',
    calls: [analyze({ group_by: 'match type' })],
    answer: table('ppc_match_type'),
    truth: (calls) => counts(sites(calls), field('ppc_match_type')),
  },
  {
    ask: 'Mobile or desktop ads?',
    calls: [analyze({ group_by: 'device', measures: 'calls' })],
    answer: table('vt_device'),
    truth: (calls) => counts(sites(calls), field('vt_device')),
  },
  {
    ask: 'What are the top three browsers of callers?',
    calls: [analyze({ group_by: 'browser', limit: 3, measures: 'calls' })],
    answer: column('calls'),
    truth: (calls) => largest(Object.values(counts(sites(calls), field('browser'))), 3),
  },
  {
    ask: 'How sure are the matches to web visits?',
    calls: [analyze({ group_by: 'rank' })],
    answer: table('rank'),
    truth: (calls) => counts(sites(calls), field('rank')),
  },
  {
    ask: 'What made the number on the page change?',
    calls: [analyze({ group_by: 'activity_type', measures: 'calls' })],
    answer: (content) => Object.values(table('activity_type')(content)).sort(),
    truth: (calls) => Object.values(counts(sites(calls), field('activity_type_id'))).sort(),
  },
  {
    ask: 'Which of our tracking numbers is called most?',
    calls: [analyze({ group_by: 'label', measures: 'calls' })],
    answer: table('phone_label'),
    truth: (calls) => counts(sites(calls), field('phone_label')),
  },
  {
    ask: 'Calls from search ads on the emergency page that lasted over ten minutes',
    calls: [count({ where: "landing_page = '/emergency' AND talk_minutes > 10 AND ppc_gclid IS NOT NULL" })],
    answer: total,
    truth: (calls) =>
      sites(
        calls,
        (call) =>
          call.landing_page === '/emergency' && minutes(call) > 10 && field('ppc_gclid')(call) !== null,
      ).length,
  },
  {
    ask: 'Texas and California, at least two minutes, by campaign',
    calls: [
      analyze({
        where: "state IN ('TX', 'CA') AND talk_minutes >= 2",
        group_by: 'campaign',
        measures: 'calls',
      }),
    ],
    answer: table('ppc_campaign'),
    truth: (calls) =>
      counts(
        sites(calls, (call) => /^(?:TX|CA)$/.test(String(call.state)) && minutes(call) >= 2),
        field('ppc_campaign'),
      ),
  },
];

/** What people ask about uploads, data quality and numbers that differ. */
const quality: readonly Question[] = [
  {
    ask: 'How much of the ad data is final?',
    calls: [analyze({ group_by: 'ppc_status' })],
    answer: table('ppc_status'),
    truth: (calls) => counts(sites(calls), field('ppc_status')),
  },
  {
    ask: 'How many calls still wait for their keyword?',
    calls: [count({ where: "ppc_status IN ('Not Processed', 'Waiting For Keyword')", calls: 'all' })],
    answer: total,
    truth: (calls) =>
      calls.filter(({ ppc_status: status }) => status === 'Not Processed' || status === 'Waiting For Keyword')
        .length,
  },
  {
    ask: 'Which calls can go to Google Ads today? (click within 90 days, one minute, processed)',
    calls: [
      count({
        where:
          "ppc_gclid IS NOT NULL AND talk_minutes >= 1 AND ppc_status = 'Processed' AND displayed_timestamp >= '2026-08-03'",
        calls: 'all',
      }),
    ],
    answer: total,
    truth: (calls) =>
      calls.filter(
        (call) =>
          field('ppc_gclid')(call) !== null &&
          minutes(call) >= 1 &&
          call.ppc_status === 'Processed' &&
          String(call.displayed_timestamp) >= '2026-08-03 00:00:00',
      ).length,
  },
  {
    ask: 'Do we have ad clicks without a campaign?',
    calls: [count({ where: 'ppc_gclid IS NOT NULL AND ppc_campaign IS NULL' })],
    answer: total,
    truth: (calls) =>
      sites(calls, (call) => field('ppc_gclid')(call) !== null && field('ppc_campaign')(call) === null)
        .length,
  },
  {
    ask: 'How many calls have no city?',
    calls: [count({ where: 'city IS NULL' })],
    answer: total,
    truth: (calls) => sites(calls, (call) => field('city')(call) === null).length,
  },
  {
    ask: 'In how many cities do our callers live?',
    calls: [analyze({ measures: 'distinct(city)' })],
    answer: only('distinct_city'),
    truth: (calls) => [
      new Set(
        sites(calls)
          .map(field('city'))
          .filter((city) => city !== null),
      ).size,
    ],
  },
  {
    ask: 'The dashboard shows a higher number for October. Why?',
    calls: [count(october)],
    answer: says(/through call extensions left out|call extensions left out; calls="all" adds them/),
    truth: yes,
  },
  {
    ask: 'My export of October ends with the 30th: how many calls should it have?',
    calls: [count({ ...october, to: '2026-10-30' })],
    answer: (content) => content.total,
    truth: (calls) => sites(calls, on('2026-10-01', '2026-10-30')).length,
  },
  {
    ask: 'On which days in October was there no call from the seasonal campaign?',
    calls: [
      (_, calls) => {
        const name = calls.find((call) => call.ppc_campaign?.includes('Seasonal'))?.ppc_campaign;
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
        sites(calls, inOctober, (call) => call.ppc_campaign?.includes('Seasonal') === true).map(dateOf),
      );
      return allDays('2026-10-01', 31).filter((day) => !found.has(day));
    },
  },
];

/** What people ask about callers and single calls. */
const people: readonly Question[] = [
  {
    ask: 'How many different people called in October?',
    calls: [analyze({ ...october, measures: 'callers' })],
    answer: only('callers'),
    truth: (calls) => [callers(sites(calls, inOctober))],
  },
  {
    ask: 'How many of them called more than once?',
    calls: [analyze({ ...october, measures: 'repeat_callers' })],
    answer: only('repeat_callers'),
    truth: (calls) => [repeats(sites(calls, inOctober))],
  },
  {
    ask: 'New callers in October?',
    calls: [analyze({ ...october, measures: 'first_time_callers', calls: 'all' })],
    answer: only('first_time_callers'),
    truth: (calls) => [[...firsts(calls)].filter(inOctober).length],
  },
  {
    ask: 'Do returning callers talk longer?',
    calls: [analyze({ group_by: 'caller_type', measures: 'calls', calls: 'all' })],
    answer: (content) => rowsOf(content).find((row) => row.caller_type === 'first')?.calls,
    truth: (calls) => firsts(calls).size,
  },
  {
    ask: 'Who calls most often?',
    calls: [analyze({ group_by: 'caller', limit: 1, calls: 'all' })],
    answer: column('calls'),
    truth: (calls) => largest(Object.values(counts(calls, callerOf)), 1),
  },
  {
    ask: 'Show me everything that caller did in the last week',
    calls: [
      analyze({ group_by: 'caller', limit: 1, from: '7d', to: 'yesterday' }),
      ([first]) => [
        'list_calls',
        {
          caller: first?.rows[0][0],
          from: '7d',
          to: 'yesterday',
          fields: 'date_added,landing_page',
          rows: 5,
        },
      ],
    ],
    answer: ({ total: number }, [first]) => [number === first?.rows[0][1], number],
    truth: (calls) => [
      true,
      largest(Object.values(counts(sites(calls, on('2026-10-25', '2026-10-31')), callerOf)), 1)[0],
    ],
  },
  {
    ask: 'How long does it take from the visit to the call?',
    calls: [analyze({ measures: 'lag_median' })],
    answer: only('lag_median'),
    truth: (calls) => [
      rank(sites(calls, (call) => String(call.displayed_timestamp) <= call.date_added).map(lag), 0.5),
    ],
  },
  {
    ask: 'Tell me about this call',
    calls: [(_, calls) => ['get_call', { sid: sites(calls)[7]?.sid, fields: 'date_added,talk_minutes' }]],
    answer: ({ call }) => call,
    truth: (calls) => {
      const [call] = sites(calls).slice(7) as [Call];
      return { sid: call.sid, date_added: call.date_added, talk_minutes: minutes(call) };
    },
  },
  {
    ask: 'From which states do people call?',
    calls: [analyze({ group_by: 'state', limit: 4, measures: 'calls' })],
    answer: column('calls'),
    truth: (calls) => largest(Object.values(counts(sites(calls), field('state'))), 4),
  },
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
    answer: ({ rows }) => /confiden/.test(String(rows[0][1])),
    truth: yes,
  },
  {
    ask: 'How much revenue did the calls bring?',
    calls: [['describe_data', { fields: 'talk_minutes' }]],
    answer: says(/Not in the data: revenue, sales and bookings/),
    truth: yes,
  },
  {
    ask: 'Which agent answers best?',
    calls: [['describe_data', { fields: 'talk_minutes' }]],
    answer: says(/Not in the data: .*the agents who answered/),
    truth: yes,
  },
  {
    ask: 'What did people complain about on the phone?',
    calls: [['describe_data', { fields: 'talk_minutes' }]],
    answer: says(/Not in the data: .*transcripts, topics/),
    truth: yes,
  },
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
