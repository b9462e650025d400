import { type Asked, buckets, hourAt, type Seen, type Sent, weekdayAt } from './cases.ts';

// What a question is answered with, in plain loops, as README.md of this package says it. Nothing
// of the package is used here.

type Cell = string | number | boolean | null;

/** What is compared of an answer. */
export interface Told {
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  readonly total: Readonly<Record<string, Cell>>;
  readonly calls: number;
  readonly groups: number;
  readonly extensions: { readonly counted: number; readonly leftOut: number };
}

/** Changes a rule, to see that the law finds it. */
export type Mistakes = Partial<Record<string, boolean>>;

const hour = 3_600_000;
const day = 24 * hour;
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const naive = (text: unknown): number | null => {
  const at = typeof text === 'string' ? Date.parse(`${text.replace(' ', 'T')}Z`) : Number.NaN;
  return Number.isNaN(at) ? null : at;
};
const text = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
const startOfDay = (at: number): number => Math.floor(at / day) * day;

// From March to November New York is four hours behind; Berlin is two hours ahead until the 25th of
// October, and then one.
const newYork = (instant: number): number => instant - 4 * hour;
const berlin = (instant: number): number =>
  instant + (instant < Date.UTC(2026, 9, 25, 1) ? 2 : 1) * hour;

/** The calls with what follows from their fields, and from all calls of their callers. */
function seen(calls: readonly Sent[], asked: Asked, mistakes: Mistakes): Seen[] {
  const all = calls.map(({ account, sid, fields }) => {
    const sent = naive(fields.date_added);
    const talk = fields.talk_minutes === null ? null : Number(fields.talk_minutes);
    const digits = String(fields.ani ?? '').replace(/\D/g, '');
    const visit = naive(fields.displayed_timestamp);
    const isExtension = fields.channel === 'Call Extension';
    const campaign = fields.ppc_campaign as string | null;
    return {
      account,
      sid,
      sent,
      talk,
      isExtension,
      campaign,
      at: sent === null || !asked.inZone ? sent : berlin(sent + 4 * hour),
      caller:
        digits.length < 7 || digits.length > 15
          ? null
          : String(mistakes.callersByText ? fields.ani : digits),
      state: fields.state as string | null,
      rank: fields.rank === null ? null : Number(fields.rank),
      lag: isExtension || sent === null || visit === null || visit > sent ? null : sent - visit,
      nth: null,
      since: null,
      until: null,
      untilAnswered: null,
      firstCampaign: null,
      lastCampaign: null,
    };
  });

  const inOrder = (a: (typeof all)[number], b: (typeof all)[number]): number => {
    if (a.sent !== b.sent) return (a.sent ?? Number.MAX_VALUE) - (b.sent ?? Number.MAX_VALUE);
    return a.sid < b.sid ? -1 : 1;
  };

  return all.map((call): Seen => {
    if (call.caller === null) return call;
    const own = all
      .filter(({ account, caller }) => caller === call.caller && account === call.account)
      .sort(inOrder);
    const place = own.indexOf(call);

    const apart = (
      from: (typeof all)[number] | undefined,
      to: (typeof all)[number] | undefined,
    ): number | null =>
      from === undefined || to === undefined || from.sent === null || to.sent === null
        ? null
        : to.sent - from.sent;

    return {
      ...call,
      nth: place + 1,
      since: apart(own[place - 1], call),
      until: apart(call, own[place + 1]),
      untilAnswered: apart(
        call,
        own.slice(place + 1).find(({ talk }) => (talk ?? 0) > 0),
      ),
      firstCampaign: own[0]?.campaign ?? null,
      lastCampaign: own.at(-1)?.campaign ?? null,
    };
  });
}

/** Where the week of a time begins. */
const startOfWeek = (at: number, mistakes: Mistakes): number =>
  startOfDay(at) - ((weekdayAt(at) + (mistakes.sundays ? 1 : 0)) % 7) * day;

function groupOf(call: Seen, name: string, mistakes: Mistakes): Cell {
  const { at, talk, nth } = call;
  const date = (time: number): string => text(time).slice(0, 10);
  switch (name) {
    case 'ppc_campaign':
      return call.campaign;
    case 'caller_first_campaign':
      return call.firstCampaign;
    case 'state':
      return call.state;
    case 'rank':
      return call.rank;
    case 'missed':
      return talk === null ? null : talk === 0;
    case 'answered':
      return talk === null ? null : talk > 0;
    case 'account':
      return call.account;
    case 'is_extension':
      return call.isExtension;
    case 'caller_nth':
      return nth;
    case 'caller_type':
      if (nth === null) return null;
      return nth === 1 ? 'first' : 'returning';
    default:
  }

  if (at === null) return null;
  if (name === 'day') return date(at);
  if (name === 'week') return date(startOfWeek(at, mistakes));
  if (name === 'month') return date(at).slice(0, 7);
  return name === 'weekday' ? (weekdays[weekdayAt(at)] ?? null) : hourAt(at);
}

/** A number of a field that can be measured. */
function numberOf({ rank, talk, lag, nth }: Seen, name: string): number | null {
  if (name === 'rank') return rank;
  if (name === 'talk_minutes') return talk;
  if (name === 'lag_minutes') return lag === null ? null : lag / 60_000;
  return nth;
}

function fieldOf(call: Seen, name: string, mistakes: Mistakes): Cell {
  return groupOf(call, name === 'campaign' ? 'ppc_campaign' : name, mistakes);
}

const known = <T>(values: readonly (T | null)[]): T[] =>
  values.filter((value): value is T => value !== null);
const rank = (values: readonly number[], p: number): number | null =>
  [...values].sort((a, b) => a - b)[Math.ceil(p * values.length - 1e-9) - 1] ?? null;
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const ratio = (part: number, all: number): number | null => (all === 0 ? null : part / all);

/** What a measure needs besides the calls of the group. */
interface Around {
  readonly asked: Asked;
  readonly mistakes: Mistakes;
  /** All calls of the period. */
  readonly whole: number;
  readonly days: number | null;
  /** Until when the calls of an account are known. */
  readonly ends: ReadonlyMap<string, number>;
}

function measured(measure: string, calls: readonly Seen[], around: Around): Cell {
  const { asked, mistakes, whole, days, ends } = around;
  const [, name = measure, inside = ''] = /^(\w+)\((.*)\)$/.exec(measure) ?? [];
  const talks = known(calls.map(({ talk }) => talk));
  const missed = talks.filter(
    (talk) => talk === 0 || (mistakes.shortIsMissed && talk < 0.2),
  ).length;
  const answered = talks.filter((talk) => talk > 0).length;
  const callers = known(calls.map(({ caller }) => caller));
  const times = known(calls.map(({ at }) => at)).sort((a, b) => a - b);
  const numbers = known(calls.map((call) => numberOf(call, inside)));
  const values = calls.map((call) => fieldOf(call, inside, mistakes));
  const truths = calls.map((call) => asked.conditions.get(measure)?.holds(call) ?? null);
  const holding = truths.filter((truth) => truth === true).length;
  switch (name) {
    case 'calls':
      return calls.length;
    case 'share':
      if (inside !== '')
        return ratio(
          holding,
          mistakes.shareOfKnown ? truths.filter((truth) => truth !== null).length : calls.length,
        );
      return calls.length === 0 ? 0 : ratio(calls.length, whole);
    case 'per_day':
      if (calls.length === 0) return 0;
      return days === null || days <= 0 ? null : calls.length / days;
    case 'missed':
      return missed;
    case 'answered':
      return answered;
    case 'missed_rate':
      return ratio(missed, mistakes.rateOfCalls ? calls.length : missed + answered);
    case 'answered_rate':
      return ratio(answered, missed + answered);
    case 'talk_sum':
      return sum(talks);
    case 'talk_mean':
      return ratio(sum(talks), talks.length);
    case 'talk_median':
      return rank(talks, 0.5);
    case 'talk_p90':
      return rank(talks, mistakes.p90 ? 0.8 : 0.9);
    case 'callers':
      return new Set(callers).size;
    case 'repeat_callers':
      return [...new Set(callers)].filter(
        (one) => callers.filter((each) => each === one).length > 1,
      ).length;
    case 'first_time_callers':
      return calls.filter(({ nth }) => nth === 1).length;
    case 'lag_median': {
      const lag = rank(known(calls.map((call) => call.lag)), 0.5);
      return lag === null ? null : Math.round(lag / 6000) / 10;
    }
    case 'first':
      return times[0] === undefined ? null : text(times[0]);
    case 'last':
      return times.length === 0 ? null : text(times.at(-1) ?? 0);
    case 'distinct':
      return new Set(values.filter((value) => value !== null && value !== '')).size;
    case 'without':
      return values.filter((value) => value === null || value === '').length;
    case 'count':
      return holding;
    case 'median':
      return rank(numbers, 0.5);
    case 'mean':
      return ratio(sum(numbers), numbers.length);
    case 'p90':
      return rank(numbers, 0.9);
    case 'called_again_within':
    case 'reached_within':
    case 'judged': {
      const within = Number(inside) * hour;
      const judged = calls.filter(({ talk, caller, sent, account }) => {
        if (talk !== 0 || caller === null || sent === null) return false;
        return mistakes.judgesAll || (ends.get(account) ?? 0) - sent >= within;
      });
      if (name === 'judged') return judged.length;
      const followed = judged.filter(({ until, untilAnswered }) => {
        const next = name === 'reached_within' && !mistakes.reachedByAny ? untilAnswered : until;
        return next !== null && next <= within;
      });
      return ratio(followed.length, judged.length);
    }
    default:
      throw new TypeError(`The oracle does not know the measure ${name}.`);
  }
}

/** Measures of which there is more in a longer period. */
const growing =
  /^(?:calls|missed|answered|talk_sum|first_time_callers|without\(.*|count\(.*|judged\(.*)$/s;

/** Measures that say nothing without the calls that they are of. */
const ratios =
  /^(?:share|missed_rate|answered_rate|talk_m.*|talk_p90|lag_median|median|mean|p90)(?:\(|$)/;
const ofCertainCalls = /^(?:called_again|reached)_within\(/;

/** What an answer measures, by its columns: what is asked, and the calls that it is of. */
function shownMeasures({ measures, groupBy }: Asked): [column: string, measure: string][] {
  const bases = measures.filter((measure) => ofCertainCalls.test(measure));
  const isOfParts =
    bases.length < measures.length &&
    measures.every((measure) => ratios.test(measure) || ofCertainCalls.test(measure));
  const needsCalls = isOfParts && ![...measures, ...groupBy].includes('calls');
  return [
    ...measures.map((measure): [string, string] => [columnOf(measure), measure]),
    ...bases.map((measure): [string, string] => [
      `${columnOf(measure)}_of`,
      measure.replace(ofCertainCalls, 'judged('),
    ]),
    ...(needsCalls ? [['calls', 'calls'] as [string, string]] : []),
  ];
}

/** The column of a measure. */
export const columnOf = (measure: string): string =>
  /^(?:share|count)\(/.test(measure)
    ? measure
    : measure.replace('(campaign)', '(ppc_campaign)').replace('(', '_').replace(')', '');

interface Stretch {
  readonly from: number | null;
  readonly to: number | null;
}

const within = (at: number | null, { from, to }: Stretch): boolean =>
  (from === null && to === null) ||
  (at !== null && (from === null || at >= from) && (to === null || at < to));

/** The keys of the groups by time, for each half hour of some days. */
function timeKeys(
  asked: Asked,
  names: readonly string[],
  days: Stretch,
  mistakes: Mistakes,
): Map<string, Cell[]> {
  const keys = new Map<string, Cell[]>();
  const first = startOfDay(days.from ?? 0);
  const last = startOfDay((days.to ?? 0) - 1) + day;
  for (let at = first; at < last; at += hour) {
    for (const moment of [at, at + hour - 1000]) {
      if (asked.time !== null && !asked.time.holds(moment)) continue;
      const key = names.map((name) => groupOf({ at: moment } as Seen, name, mistakes));
      keys.set(JSON.stringify(key), key);
    }
  }

  return keys;
}

/** The days of a stretch that lie in a row of groups by time, part days as parts. */
function daysOf(
  asked: Asked,
  key: readonly Cell[],
  { from, to }: Stretch,
  mistakes: Mistakes,
): number | null {
  if (from === null || to === null) return null;
  const dated = asked.groupBy.flatMap((name, i) =>
    [...buckets, 'weekday'].includes(name) ? [i] : [],
  );
  let millis = 0;
  for (let at = startOfDay(from); at < to; at += day) {
    const isIn = dated.every(
      (i) => groupOf({ at } as Seen, asked.groupBy[i] ?? '', mistakes) === key[i],
    );
    const start = Math.max(from, at);
    const end = Math.min(to, at + day);
    if (isIn && isAllowed(asked, start, end)) millis += end - start;
  }

  if (dated.some((i) => key[i] === null)) return null;
  return millis / day;
}

/** Does the condition on time allow an hour between two times? */
function isAllowed({ time }: Asked, start: number, end: number): boolean {
  for (let at = start; at < end; at += hour)
    if (time === null || time.holds(at) || time.holds(Math.min(end, at + hour) - 1000)) return true;
  return false;
}

const all = { from: Date.UTC(2026, 7, 1), to: Date.UTC(2026, 11, 1) };

/**
 * The rows of groups by time without a call: every time that the condition on time does not
 * exclude, for each of the other groups.
 */
function emptyRows(
  asked: Asked,
  period: Stretch,
  found: readonly Cell[][],
  times: readonly number[],
  mistakes: Mistakes,
): Cell[][] {
  const timeNames = asked.groupBy.filter((name) => [...buckets, 'weekday', 'hour'].includes(name));
  if (timeNames.length === 0) return [];
  const hasDates = timeNames.some((name) => buckets.includes(name));

  // An open end is that of the bucket of the first or last call.
  const finest = buckets.find((name) => timeNames.includes(name)) ?? '';

  const startOf = (at: number): number => {
    if (finest === 'day') return startOfDay(at);
    if (finest === 'week') return startOfWeek(at, mistakes);
    return Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth());
  };

  const first = times[0];
  const last = times.at(-1);
  if (
    hasDates &&
    (period.from === null || period.to === null) &&
    (first === undefined || last === undefined)
  )
    return [];

  const ends = {
    from: period.from ?? startOf(first ?? 0),
    to:
      period.to ??
      startOf(
        startOf(last ?? 0) + (finest === 'month' ? 32 : ({ day: 1, week: 7 }[finest] ?? 1)) * day,
      ),
  };
  const possible = timeKeys(asked, timeNames, all, mistakes);
  const wanted = timeKeys({ ...asked, time: null }, timeNames, hasDates ? ends : all, mistakes);
  const others = asked.groupBy.map((name) => !timeNames.includes(name));
  const bases = new Map(found.map((key) => [JSON.stringify(key.filter((_, i) => others[i])), key]));
  if (others.every((isOther) => !isOther))
    bases.set(
      '[]',
      asked.groupBy.map(() => null),
    );

  return [...bases.values()].flatMap((base) =>
    [...wanted].flatMap(([id, times]) =>
      possible.has(id)
        ? [
            base.map((value, i) =>
              others[i] ? value : (times[timeNames.indexOf(asked.groupBy[i] ?? '')] ?? null),
            ),
          ]
        : [],
    ),
  );
}

/** The answer to a question. */
export function answerOf(
  asked: Asked,
  sent: readonly Sent[],
  syncedAt: number | null,
  mistakes: Mistakes = {},
): Told {
  const calls = seen(sent, asked, mistakes);
  const zone = asked.inZone ? berlin : (instant: number) => instant;
  const now = zone(asked.now);
  const ends = new Map<string, number>();
  for (const { account, sent: at } of calls)
    if (at !== null) ends.set(account, Math.max(at, ends.get(account) ?? 0));
  if (syncedAt !== null)
    for (const account of ends.keys())
      ends.set(account, asked.inZone ? newYork(syncedAt) : syncedAt);

  let period: Stretch = {
    from: asked.from === null ? null : naive(`${asked.from} 00:00:00`),
    to: asked.to === null ? null : (naive(`${asked.to} 00:00:00`) ?? 0) + day,
  };
  let past: Stretch | null = null;
  if (asked.compare === 'previous')
    past = { from: (period.from ?? 0) - ((period.to ?? 0) - (period.from ?? 0)), to: period.from };
  else if (asked.compare !== null)
    past = {
      from: naive(`${asked.compare.from} 00:00:00`),
      to: (naive(`${asked.compare.to} 00:00:00`) ?? 0) + day,
    };

  // Of a period that is not over, the same part of both.
  const wholeLength = ({ from, to }: Stretch): number => (to ?? 0) - (from ?? 0);
  if (past !== null && wholeLength(past) === wholeLength(period) && !mistakes.comparesWhole)
    if (now > (period.from ?? 0) && now < (period.to ?? 0)) {
      past = { from: past.from, to: (past.from ?? 0) + now - (period.from ?? 0) };
      period = { from: period.from, to: now };
    }

  const chosen = calls.filter(
    (call) =>
      (asked.where === null || asked.where.holds(call) === true) &&
      (asked.time === null || (call.at !== null && asked.time.holds(call.at))),
  );
  const isOther = ({ isExtension }: Seen): boolean =>
    asked.calls !== 'all' && isExtension !== (asked.calls === 'extensions');
  const counted = chosen.filter((call) => !isOther(call));
  const inPeriod = counted.filter(({ at }) => within(at, period));
  const before = past === null ? [] : counted.filter(({ at }) => within(at, past));
  const times = known(inPeriod.map(({ at }) => at)).sort((a, b) => a - b);

  // The days up to the end of the period or now; of all time those from the first call to the last.
  const upTo = ({ from, to }: Stretch): Stretch => ({
    from: from ?? times[0] ?? null,
    to: from === null && to === null ? (times.at(-1) ?? null) : Math.min(to ?? now, now),
  });

  const comparesPerDay = past !== null && wholeLength(past) !== wholeLength(period);

  const cellsOf = (
    own: readonly Seen[],
    theirs: readonly Seen[],
    key: readonly Cell[],
    groups: readonly string[],
  ) => {
    const cells: Record<string, Cell> = {};
    const keyed = { ...asked, groupBy: groups };
    for (const [column, measure] of shownMeasures(asked)) {
      const of = (
        list: readonly Seen[],
        whole: number,
        stretch: Stretch,
      ): [Cell, number | null] => {
        const days = daysOf(keyed, key, upTo(stretch), mistakes);
        return [measured(measure, list, { asked, mistakes, whole, days, ends }), days];
      };
      const [value, days] = of(own, inPeriod.length, period);
      cells[column] = value;
      if (past === null) continue;
      const [was, daysBefore] = of(theirs, before.length, past);
      cells[`${column}_before`] = was;
      if (measure === 'first' || measure === 'last') continue;
      const change = (one: Cell, other: Cell): Cell =>
        typeof one !== 'number' || typeof other !== 'number' ? null : one - other;
      const perDay = (number: Cell, of: number | null): Cell =>
        typeof number !== 'number' || of === null || of === 0 ? null : number / of;
      cells[`${column}_change`] = change(value, was);
      if (!growing.test(measure)) continue;
      const part = change(value, was);
      cells[`${column}_change_percent`] =
        typeof part !== 'number' || typeof was !== 'number' || was === 0
          ? null
          : (100 * part) / (mistakes.percentOfLater ? Number(value) : was);
      if (comparesPerDay)
        cells[`${column}_change_per_day`] = mistakes.comparesTotals
          ? part
          : change(perDay(value, days), perDay(was, daysBefore));
    }

    return cells;
  };

  const keyOf = (call: Seen): Cell[] => asked.groupBy.map((name) => groupOf(call, name, mistakes));
  const found = new Map<string, { key: Cell[]; own: Seen[]; theirs: Seen[] }>();

  const add = (call: Seen, which: 'own' | 'theirs'): void => {
    const key = keyOf(call);
    const group = found.get(JSON.stringify(key)) ?? { key, own: [], theirs: [] };
    found.set(JSON.stringify(key), group);
    group[which].push(call);
  };

  for (const call of inPeriod) add(call, 'own');
  for (const call of before) add(call, 'theirs');
  for (const key of emptyRows(
    asked,
    period,
    [...found.values()].map((group) => group.key),
    times,
    mistakes,
  ))
    if (!found.has(JSON.stringify(key)))
      found.set(JSON.stringify(key), { key, own: [], theirs: [] });

  const total = cellsOf(inPeriod, before, [], []);
  let rows = [...found.values()].map(({ key, own, theirs }) => ({
    key,
    calls: own.length,
    cells: cellsOf(own, theirs, key, asked.groupBy),
  }));
  if (asked.groupBy.length === 0) rows = [{ key: [], calls: inPeriod.length, cells: total }];
  if (asked.having) rows = rows.filter(({ calls }) => calls >= 2);
  const groups = rows.length;

  // Time in its order, otherwise most of the first measure first; ties by their groups; what has no
  // value comes last.
  const compare = (a: Cell, b: Cell, isDown: boolean): number => {
    if (a === b) return 0;
    if (a === null) return 1;
    if (b === null) return -1;
    const order = Number(a > b) - Number(a < b);
    return isDown ? -order : order;
  };

  const placeOf = (name: string, value: Cell): Cell => {
    if (name !== 'weekday' || value === null) return value;
    return weekdays.indexOf(String(value));
  };

  const firstMeasure = columnOf(asked.measures[0] ?? '');
  const isByTime = [...buckets, 'weekday', 'hour'].includes(asked.groupBy[0] ?? '');
  rows.sort((a, b) => {
    const byMeasure = isByTime
      ? 0
      : compare(a.cells[firstMeasure] ?? null, b.cells[firstMeasure] ?? null, true);
    if (byMeasure !== 0) return byMeasure;
    for (const [i, name] of asked.groupBy.entries()) {
      const order = compare(
        placeOf(name, a.key[i] ?? null),
        placeOf(name, b.key[i] ?? null),
        false,
      );
      if (order !== 0) return order;
    }

    return 0;
  });

  if (asked.topPer !== null) {
    const most = asked.topPer;
    rows = rows.filter(
      (row, i) => rows.slice(0, i).filter(({ key }) => key[0] === row.key[0]).length < most,
    );
  }

  return {
    rows: rows.slice(0, asked.limit ?? 1000).map(({ key, cells }) => ({
      ...Object.fromEntries(asked.groupBy.map((name, i) => [name, key[i] ?? null])),
      ...cells,
    })),
    total,
    calls: inPeriod.length,
    groups,
    extensions: {
      counted: inPeriod.filter(({ isExtension }) => isExtension).length,
      leftOut:
        asked.calls === 'website'
          ? chosen.filter((call) => isOther(call) && within(call.at, period)).length
          : 0,
    },
  };
}
