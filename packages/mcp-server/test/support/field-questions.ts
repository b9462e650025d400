import type { Call } from '@call-attribution/core';
import type { Content } from './ask.ts';
import type { Ask, Question } from './questions.ts';

// Questions that follow from the field table: what is in a field, how often, how much, when. Truth
// is plain JavaScript over the records.

type Test = (call: Call) => boolean;

const num = (value: unknown): number => Number(value);
const has = (value: unknown): boolean => value !== null && value !== undefined && value !== '';
const rounded = (value: number): number => Number(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
const total = ({ total: found }: Content): unknown => found;
const plain = (cell: unknown): unknown =>
  typeof cell === 'string' ? cell.replace(/^«|»$/g, '') : cell;
const firstRow = ({ rows }: Content): unknown => plain((rows as unknown[][])[0]?.[0]);
const pairs = ({ rows }: Content): Record<string, unknown> =>
  Object.fromEntries((rows as unknown[][]).map(([key, value]) => [String(plain(key)), value]));
const all = { calls: 'all' } as const;

const howMany = (ask: string, where: string, test: Test): Question => ({
  ask,
  calls: [['count_calls', { ...all, where }]],
  answer: total,
  truth: (calls) => calls.filter(test).length,
});

const measured = (
  ask: string,
  measure: string,
  truth: (calls: readonly Call[]) => unknown,
  where?: string,
): Question => ({
  ask,
  calls: [
    ['analyze_calls', { ...all, measures: [measure], ...(where === undefined ? {} : { where }) }],
  ],
  answer: firstRow,
  truth,
});

const byField = (ask: string, field: keyof Call, args: Ask[1] = {}): Question => ({
  ask,
  calls: [
    ['analyze_calls', { ...all, group_by: [field], measures: ['calls'], limit: 500, ...args }],
  ],
  answer: pairs,
  truth(calls) {
    const counts: Record<string, number> = {};
    for (const call of calls) {
      const key = has(call[field]) ? String(call[field]) : 'null';
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  },
});

const different = (calls: readonly Call[], field: keyof Call): number =>
  new Set(calls.map((call) => call[field]).filter(has)).size;
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const tenths = (calls: readonly Call[], field: 'talk_minutes'): number =>
  sum(calls.map((call) => Math.round(num(call[field]) * 10))) / 10;

/** Forty questions, one or two for each kind of field. */
export const fieldQuestions: readonly Question[] = [
  howMany(
    'Calls that waited more than half a minute for an answer',
    'smart_minutes > 0.5',
    (c) => num(c.smart_minutes) > 0.5,
  ),
  howMany(
    'Calls billed with ten minutes or more',
    'call_duration >= 10',
    (c) => num(c.call_duration) >= 10,
  ),
  howMany('Calls to 13035550100', "dnis = '13035550100'", (c) => c.dnis === '13035550100'),
  howMany('Calls from Texas', "state = 'TX'", (c) => c.state === 'TX'),
  howMany('Calls from New York or Los Angeles', "city IN ('New York', 'Los Angeles')", (c) =>
    ['New York', 'Los Angeles'].includes(String(c.city)),
  ),
  howMany('Calls whose city is unknown', 'city IS NULL', (c) => !has(c.city)),
  howMany('Calls with a recording', 'recording IS NOT NULL', (c) => has(c.recording)),
  howMany('Surest matches', 'rank = 1', (c) => num(c.rank) === 1),
  howMany('Unsure matches', 'rank >= 4', (c) => num(c.rank) >= 4),
  howMany(
    'Calls dialed from an ad',
    "channel = 'Call Extension'",
    (c) => c.channel === 'Call Extension',
  ),
  howMany(
    'Calls after an organic search',
    'activity_type_id = 5',
    (c) => num(c.activity_type_id) === 5,
  ),
  howMany('Visits that came with a tag', 'url_tag IS NOT NULL', (c) => has(c.url_tag)),
  howMany(
    'Calls from the emergency page',
    "landing_page = '/emergency'",
    (c) => c.landing_page === '/emergency',
  ),
  howMany(
    'Visits that ended on another page than they began',
    "landing_page = '/' AND conversion_page <> '/'",
    (c) => c.landing_page === '/' && has(c.conversion_page) && c.conversion_page !== '/',
  ),
  howMany('Calls without a referrer', 'referrer IS NULL', (c) => !has(c.referrer)),
  howMany(
    'Calls whose ad data is final',
    "ppc_status = 'Processed'",
    (c) => c.ppc_status === 'Processed',
  ),
  howMany('Calls of the brand campaign', "ppc_campaign LIKE '%brand%'", (c) =>
    /brand/i.test(String(c.ppc_campaign ?? '')),
  ),
  howMany('Calls with a click id of Google', 'ppc_gclid IS NOT NULL', (c) => has(c.ppc_gclid)),
  howMany(
    'Exact matches of a keyword',
    "ppc_match_type = 'Exact'",
    (c) => c.ppc_match_type === 'Exact',
  ),
  howMany('Ads seen on phones', "vt_device = 'm'", (c) => c.vt_device === 'm'),
  howMany('Callers with an iPhone or iPad', "os = 'iOS'", (c) => c.os === 'iOS'),
  howMany(
    'Chrome on Android',
    "browser = 'Chrome' AND os = 'Android'",
    (c) => c.browser === 'Chrome' && c.os === 'Android',
  ),
  howMany('Calls with a custom value', 'custom_value IS NOT NULL', (c) => has(c.custom_value)),
  howMany(
    'Calls in September before noon',
    "date_added >= '2026-09-01' AND date_added < '2026-10-01' AND hour < 12",
    (c) => c.date_added.startsWith('2026-09') && num(c.date_added.slice(11, 13)) < 12,
  ),
  byField('Calls by channel', 'channel'),
  byField('Calls by label of the number', 'phone_label'),
  byField('Calls by state', 'state'),
  byField('Calls by pool', 'pool_id'),
  byField('Calls by operating system', 'os'),
  byField('Calls by match type', 'ppc_match_type'),
  byField('Calls by page where they began', 'landing_page'),
  byField('Calls by site that sent them', 'referrer'),
  byField('Calls by network of the ad', 'vt_network'),
  measured('How many different keywords brought calls?', 'distinct(ppc_keywords)', (calls) =>
    different(calls, 'ppc_keywords'),
  ),
  measured('How many ads?', 'distinct(ppc_ad_id)', (calls) => different(calls, 'ppc_ad_id')),
  measured(
    'How many calls lack a campaign?',
    'without(ppc_campaign)',
    (calls) => calls.filter((c) => !has(c.ppc_campaign)).length,
  ),
  measured('Minutes talked in all', 'talk_sum', (calls) => rounded(tenths(calls, 'talk_minutes'))),
  measured(
    'Minutes talked by callers from California',
    'talk_sum',
    (calls) =>
      rounded(
        tenths(
          calls.filter((c) => c.state === 'CA'),
          'talk_minutes',
        ),
      ),
    "state = 'CA'",
  ),
  measured('What part of the calls has a rank of 4 or 5?', 'share(rank >= 4)', (calls) =>
    rounded(calls.filter((c) => num(c.rank) >= 4).length / calls.length),
  ),
  measured(
    'What part of the calls from phones was missed?',
    'missed_rate',
    (calls) => {
      const phones = calls.filter((c) => c.vt_device === 'm');
      return rounded(phones.filter((c) => num(c.talk_minutes) === 0).length / phones.length);
    },
    "vt_device = 'm'",
  ),
];
