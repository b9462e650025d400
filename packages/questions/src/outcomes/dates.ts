import { day, hour, minute, naiveAt, parseNaive, second } from '@call-attribution/core/time';
import { type Outcome, refuseRow } from './outcome.ts';

/** The order of day, month and year in a file. */
export type DateOrder = 'dmy' | 'mdy' | 'ymd';

/** How an order is typed, for messages. */
type TypedAs = (order: DateOrder) => string;

/** A text with the place that it was read from. */
export interface Placed<T = string> {
  readonly place: string;
  readonly text: T;
}

const written =
  /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:(?:T|,?\s+)(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:\s*([ap])\.?m\.?)?)?\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)?$/i;

const forms = '2026-11-03, 2026-11-03 14:05, 2026-11-03T14:05:00+01:00 or 11/3/2026 2:05 PM';

/** What a cell may say: the numbers of its date as they come, and the rest. */
function partsOf({ place, text }: Placed) {
  const found = written.exec(text.trim());
  const [, first = '', mark = '', second = '', third = ''] = found ?? [];
  const isYearFirst = first.length === 4;
  if (found === null || isYearFirst === (third.length === 4) || first.length === 3)
    throw refuseRow(
      place,
      `its time cannot be read: expected a form such as ${forms}, with four digits for the year`,
    );

  return { found, isYearFirst, mark, numbers: [Number(first), Number(second)] as const };
}

/**
 * The order of the dates of one file. It is told by a row in which only one order is a date, and
 * otherwise refused: 3/4/2026 is two days.
 */
function orderOf(cells: readonly Placed[], typed: DateOrder | null, typedAs: TypedAs): DateOrder {
  if (typed !== null) return typed;
  let asked: Placed | null = null;
  const told = new Map<DateOrder, Placed>();
  for (const cell of cells) {
    const { isYearFirst, mark, numbers } = partsOf(cell);
    if (isYearFirst) continue;
    asked ??= cell;
    const [first, second] = numbers;
    if (first > 12 || mark === '.') told.set('dmy', cell);
    else if (second > 12) told.set('mdy', cell);
  }

  const dayFirst = told.get('dmy');
  const monthFirst = told.get('mdy');
  if (dayFirst !== undefined && monthFirst !== undefined)
    throw refuseRow(
      dayFirst.place,
      `the day comes first in ${dayFirst.text}, and the month in ${monthFirst.text} (${monthFirst.place}): write all dates alike`,
    );

  if (dayFirst !== undefined) return 'dmy';
  if (monthFirst !== undefined || asked === null) return monthFirst === undefined ? 'ymd' : 'mdy';
  throw refuseRow(
    asked.place,
    `${asked.text} may begin with the day or the month, and so may each date of the file: say which with ${typedAs('dmy')} or mdy`,
  );
}

/**
 * Reads the times of one file. Those without an offset are on the clock of the account; a date alone
 * means that day.
 */
export function readTimes(
  cells: readonly Placed[],
  { dates, timeZone }: { readonly dates: DateOrder | null; readonly timeZone: string | null },
  typedAs: TypedAs = (typed) => `--outcome-dates ${typed}`,
): readonly Pick<Outcome, 'time' | 'until' | 'instant'>[] {
  const order = orderOf(cells, dates, typedAs);
  return cells.map((cell) => {
    const { place, text } = cell;
    const { found, isYearFirst } = partsOf(cell);
    const [, first = '', , middle = '', last = '', hours, minutes = '00', seconds, half, offset] =
      found;
    if (!isYearFirst && order === 'ymd')
      throw refuseRow(place, `${text} does not begin with the year, as ${typedAs('ymd')} says`);
    const dayFirst = { year: last, month: middle, date: first };
    const monthFirst = { year: last, month: first, date: middle };
    const yearFirst = { year: first, month: middle, date: last };
    const other = order === 'dmy' ? dayFirst : monthFirst;
    const { year, month, date } = isYearFirst ? yearFirst : other;
    const typed = Number(hours ?? 0);
    const noon = half?.toLowerCase() === 'p' ? 12 : 0;
    const ofDay = half === undefined ? typed : (typed % 12) + noon;
    const two = (part: string | number) => String(part).padStart(2, '0');
    const naive = parseNaive(
      `${year}-${two(month)}-${two(date)} ${two(ofDay)}:${minutes}:${seconds ?? '00'}`,
    );
    if (Number.isNaN(naive) || (half !== undefined && (typed < 1 || typed > 12)))
      throw refuseRow(place, `${text} is no time that the calendar has`);

    if (hours === undefined) return { time: naive, until: naive + day - 1, instant: null };
    const length = seconds === undefined ? minute : second;
    if (offset === undefined) return { time: naive, until: naive + length - 1, instant: null };
    if (timeZone === null)
      throw refuseRow(
        place,
        'its time has an offset from UTC, and nobody has said which clock calls are on: give the time zone of the account',
      );

    const instant = naive - millisOf(offset);
    const time = naiveAt(instant, timeZone);
    return { time, until: time + length - 1, instant };
  });
}

function millisOf(offset: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? [];
  const size = Number(hours ?? 0) * hour + Number(minutes ?? 0) * minute;
  return sign === '-' ? -size : size;
}
