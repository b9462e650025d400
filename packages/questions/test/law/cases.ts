import fc from 'fast-check';

// Random calls and questions about them. A question is kept as what it asks, so that the oracle
// need not read its texts.

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);

/** Is it true of a call? Null when that cannot be said. */
export type Truth = boolean | null;

/**
 * A call as the oracle sees it, with what follows from its fields and from the other calls of its
 * caller.
 */
export interface Seen {
  readonly account: string;
  /** Naive time in milliseconds, in the zone of the answer; null when it has none. */
  readonly at: number | null;
  /** The same as it was sent. */
  readonly sent: number | null;
  readonly talk: number | null;
  readonly isExtension: boolean;
  readonly caller: string | null;
  readonly campaign: string | null;
  readonly state: string | null;
  readonly rank: number | null;
  /** Milliseconds from the first visit to the call. */
  readonly lag: number | null;
  nth: number | null;
  since: number | null;
  until: number | null;
  untilAnswered: number | null;
  firstCampaign: string | null;
  lastCampaign: string | null;
}

/** A condition as it is written, and what it means. */
export interface Said {
  readonly text: string;
  readonly holds: (call: Seen) => Truth;
}

const of =
  <V>(read: (call: Seen) => V | null, test: (value: V) => boolean) =>
  (call: Seen): Truth => {
    const value = read(call);
    return value === null ? null : test(value);
  };
const said = (text: string, holds: Said['holds']): Said => ({ text, holds });
const campaign = ({ campaign }: Seen) => campaign;
const talk = ({ talk }: Seen) => talk;
const rank = ({ rank }: Seen) => rank;
const hour = 3_600_000;

const leaf: fc.Arbitrary<Said> = pick(
  said(
    "campaign = 'brand'",
    of(campaign, (name) => name.toLowerCase() === 'brand'),
  ),
  said(
    "campaign == 'Brand'",
    of(campaign, (name) => name === 'Brand'),
  ),
  said(
    "campaign <> 'Generic'",
    of(campaign, (name) => name !== 'Generic'),
  ),
  said(
    "campaign LIKE '%r%'",
    of(campaign, (name) => /r/i.test(name)),
  ),
  said(
    "campaign IN ('generic', '')",
    of(campaign, (name) => ['generic', ''].includes(name.toLowerCase())),
  ),
  said('campaign IS NULL', (call) => call.campaign === null),
  said(
    "state = 'TX'",
    of(
      ({ state }) => state,
      (name) => name === 'TX',
    ),
  ),
  said('state IS NOT NULL', (call) => call.state !== null),
  said(
    'rank >= 4',
    of(rank, (value) => value >= 4),
  ),
  said(
    'rank BETWEEN 2 AND 4',
    of(rank, (value) => value >= 2 && value <= 4),
  ),
  said(
    'talk_minutes >= 1.5',
    of(talk, (value) => value >= 1.5),
  ),
  said(
    'talk_minutes < 0.1',
    of(talk, (value) => value < 0.1),
  ),
  said(
    'missed',
    of(talk, (value) => value === 0),
  ),
  said(
    'answered',
    of(talk, (value) => value > 0),
  ),
  said(
    'missed = FALSE',
    of(talk, (value) => value !== 0),
  ),
  said('is_extension', ({ isExtension }) => isExtension),
  said(
    'caller_nth = 1',
    of(
      ({ nth }) => nth,
      (value) => value === 1,
    ),
  ),
  said(
    "caller_type = 'returning'",
    of(
      ({ nth }) => nth,
      (value) => value > 1,
    ),
  ),
  said(
    'hours_since_previous_call <= 24',
    of(
      ({ since }) => since,
      (value) => value <= 24 * hour,
    ),
  ),
  said('hours_until_next_call IS NULL', ({ until }) => until === null),
  said(
    "caller_last_campaign = 'Brand'",
    of(
      ({ lastCampaign }) => lastCampaign,
      (name) => name.toLowerCase() === 'brand',
    ),
  ),
  said(
    'lag_minutes > 60',
    of(
      ({ lag }) => lag,
      (value) => value > hour,
    ),
  ),
);

const both = (a: Truth, b: Truth): Truth => {
  if (a === false || b === false) return false;
  return a === null || b === null ? null : true;
};
const not = (a: Truth): Truth => (a === null ? null : !a);

export const condition: fc.Arbitrary<Said> = fc.letrec<{ test: Said }>((tie) => ({
  test: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    leaf,
    fc
      .tuple(tie('test'), tie('test'))
      .map(([a, b]) =>
        said(`(${a.text} AND ${b.text})`, (call) => both(a.holds(call), b.holds(call))),
      ),
    fc
      .tuple(tie('test'), tie('test'))
      .map(([a, b]) =>
        said(`(${a.text} OR ${b.text})`, (call) =>
          not(both(not(a.holds(call)), not(b.holds(call)))),
        ),
      ),
    tie('test').map((a) => said(`NOT (${a.text})`, (call) => not(a.holds(call)))),
  ),
})).test;

/** A condition on the time of a call. */
export interface TimeSaid {
  readonly text: string;
  readonly holds: (at: number) => boolean;
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
/** 0 for Monday. */
export const weekdayAt = (at: number): number => (new Date(at).getUTCDay() + 6) % 7;
export const hourAt = (at: number): number => new Date(at).getUTCHours();

const timeCondition: fc.Arbitrary<TimeSaid> = pick<TimeSaid>(
  { text: "weekday NOT IN ('Sat', 'Sun')", holds: (at) => weekdayAt(at) < 5 },
  { text: "weekday = 'wed'", holds: (at) => weekdayAt(at) === 2 },
  { text: 'hour >= 8', holds: (at) => hourAt(at) >= 8 },
  { text: 'NOT hour BETWEEN 9 AND 17', holds: (at) => hourAt(at) < 9 || hourAt(at) > 17 },
  { text: "date_added >= '2026-10-05'", holds: (at) => dayOf(at) >= '2026-10-05' },
  { text: "date_added < '2026-10-15 12:00:00'", holds: (at) => at < Date.UTC(2026, 9, 15, 12) },
  { text: "day <> '2026-10-07'", holds: (at) => dayOf(at) !== '2026-10-07' },
  { text: "month = '2026-10'", holds: (at) => dayOf(at).startsWith('2026-10') },
);

const moment = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .integer({ min: 0, max: 31 * 48 })
      .map((half) => Date.UTC(2026, 8, 24) + half * (hour / 2)),
  },
  {
    weight: 2,
    arbitrary: pick(Date.UTC(2026, 9, 1), Date.UTC(2026, 9, 5) - 1000, Date.UTC(2026, 9, 7, 12)),
  },
);
const minutes = fc.nat(999).map((tenths) => (tenths / 10).toFixed(1));
const timeText = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

const record = fc.record({
  date_added: fc.oneof(
    { weight: 20, arbitrary: moment.map(timeText) },
    { weight: 1, arbitrary: pick(null, '') },
  ),
  talk_minutes: fc.oneof(
    pick('0.0', '0.0', '0', '0.1', '1.0', '1.5', '2.5', '12.0', null),
    minutes,
  ),
  ani: pick(
    '5555550100',
    '(555) 555-0100',
    '5555550101',
    '5555550102',
    '5555550103',
    'Anonymous',
    '555',
    '5555550100123456',
    '',
    null,
  ),
  channel: pick('Tracker', 'Tracker', 'Tracker', 'Call Extension', null),
  displayed_timestamp: fc.oneof(moment.map(timeText), fc.constant(null)),
  ppc_campaign: pick('Brand', 'brand', 'Generic', '', null),
  state: pick('TX', 'CA', null),
  rank: pick('1', '2', '4', '5', null),
});

/** What a question asks. */
export interface Asked {
  readonly groupBy: readonly string[];
  /**
   * Measures as they are written. Of those with a condition the meaning is in `conditions`, by
   * text.
   */
  readonly measures: readonly string[];
  readonly conditions: ReadonlyMap<string, Said>;
  readonly where: Said | null;
  readonly time: TimeSaid | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly compare: 'previous' | { readonly from: string; readonly to: string } | null;
  readonly calls: 'all' | 'website' | 'extensions';
  readonly inZone: boolean;
  readonly having: boolean;
  readonly topPer: number | null;
  readonly limit: number | null;
  /** The clock, as an instant. */
  readonly now: number;
}

/** Fields that the law groups by. */
export const groups = [
  'ppc_campaign',
  'state',
  'rank',
  'missed',
  'answered',
  'account',
  'is_extension',
  'caller_type',
  'caller_nth',
  'caller_first_campaign',
  'day',
  'week',
  'month',
  'weekday',
  'hour',
];
export const buckets = ['day', 'week', 'month'];
const numbers = ['rank', 'talk_minutes', 'lag_minutes', 'caller_nth'];
const others = ['campaign', 'state', 'weekday', 'caller_type'];

/** How each measure of the table is asked: with every kind of argument. */
export function written(form: string): fc.Arbitrary<{ text: string; said: Said | null }> {
  const name = form.replace(/\(.*/, '');
  const list = (texts: readonly string[]) =>
    pick(...texts).map((text) => ({ text: `${name}(${text})`, said: null }));
  if (form.endsWith('(condition)'))
    return condition.map((said) => ({ text: `${name}(${said.text})`, said }));
  if (form.endsWith('(hours)')) return list(['1', '24', '48.5']);
  if (form.endsWith('(field)'))
    return list(['median', 'mean', 'p90'].includes(name) ? numbers : others);
  return fc.constant({ text: form, said: null });
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 });

/** Questions with these measures, as they are written in help texts. */
const question = (forms: readonly string[]): fc.Arbitrary<Asked> =>
  fc
    .record({
      groupBy: fc.uniqueArray(pick(...groups), { maxLength: 3 }),
      measures: fc.uniqueArray(fc.oneof(...forms.map(written)), {
        minLength: 1,
        maxLength: 6,
        selector: ({ text }) => text,
      }),
      where: maybe(condition),
      time: fc.option(timeCondition, { freq: 3 }),
      period: maybe(
        fc.tuple(
          pick('2026-10-01', '2026-09-28', '2026-10-05'),
          pick('2026-10-11', '2026-10-20', '2026-10-07'),
        ),
      ),
      isOpen: pick(0, 0, 0, 1, 2),
      compare: maybe(pick<Asked['compare']>('previous', { from: '2026-09-26', to: '2026-09-30' })),
      calls: pick<Asked['calls']>('all', 'all', 'website', 'extensions'),
      inZone: fc.boolean(),
      having: pick(false, false, true),
      topPer: fc.option(pick(1, 2), { freq: 2 }),
      limit: fc.option(pick(1, 3), { freq: 2 }),
      now: pick(Date.UTC(2026, 9, 8, 12), Date.UTC(2027, 0, 1)),
    })
    .map(({ measures, groupBy, period, isOpen, compare, having, topPer, ...rest }): Asked => {
      const [from, to] = period ?? [null, null];
      const isClosed = from !== null && isOpen === 0;

      // How days, weeks and months of two periods lie side by side is not what is asked here.
      const compared =
        compare !== null && isClosed && !groupBy.some((name) => buckets.includes(name));
      const asked = measures.filter(({ text }) => !groupBy.includes(text));
      return {
        ...rest,
        groupBy,
        measures: asked.length === 0 ? ['calls'] : asked.map(({ text }) => text),
        conditions: new Map(
          measures.flatMap(({ text, said }) => (said === null ? [] : [[text, said] as const])),
        ),
        from: isOpen === 1 ? null : from,
        to: isOpen === 2 ? null : to,
        compare: compared ? compare : null,
        having: having && groupBy.length > 0,
        topPer: groupBy.length > 1 ? topPer : null,
      };
    });

/** A call as it was sent, with its account. */
export interface Sent {
  readonly account: string;
  readonly sid: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const sidOf = (n: number): string => `S${String(n).padStart(3, '0')}`;

/** Calls of two accounts, what is known of their syncs, and questions about them. */
export const cases = (forms: readonly string[], questions: number) =>
  fc.record({
    calls: fc
      .array(fc.tuple(pick('main', 'main', 'other'), record), { maxLength: 40, size: 'max' })
      .map((list) =>
        list.map(([account, fields], i): Sent => ({ account, sid: sidOf((i * 37) % 101), fields })),
      ),
    syncedAt: fc.option(pick(Date.UTC(2026, 9, 8, 4), Date.UTC(2026, 9, 30)), { freq: 2 }),
    asked: fc.array(question(forms), { minLength: questions, maxLength: questions }),
  });
