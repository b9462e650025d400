import { dateEnd, daysInMonth } from './calendar.ts';
import { decimalEnd, shortest } from './decimal.ts';
import { type ProblemCode, quote } from './problem.ts';

/** What is wrong with a bound. `from` and `to` are offsets in it; `fix` replaces all of it. */
export interface Flaw {
  readonly code: ProblemCode;
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly expected: readonly string[];
  readonly fix?: string | undefined;
}

/** The shape of a bound, for messages. */
export const shapeOf = (type: string): string => (type === 'date' ? 'YYYY-MM-DD HH:MM:SS' : 'a number');

/** Whether `text` is a bound of the type, from its first character to its last. */
export function isBound(text: string, type: string): boolean {
  return (type === 'date' ? dateEnd(text, 0) : decimalEnd(text, 0)) === text.length && text !== '';
}

/** The day after a date `YYYY-MM-DD`. */
export function nextDay(date: string): string {
  let [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  if (++day > daysInMonth(year, month)) {
    day = 1;
    if (++month > 12) {
      month = 1;
      year++;
    }
  }
  const pad = (value: number, length: number): string => String(value).padStart(length, '0');
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

const months = 'January February March April May June July August September October November December'.split(
  ' ',
);

const datePattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:([ T]+)(\d\d):(\d\d):(\d\d)(\.\d*)?\s*(Z|[+-]\d\d:?(?:\d\d)?)?)?$/i;

function dateFlaw(text: string): Flaw {
  const flaw = (code: ProblemCode, from: number, to: number, message: string, fix?: string): Flaw => ({
    code,
    from,
    to,
    message,
    expected: [shapeOf('date')],
    fix: fix !== undefined && isBound(fix, 'date') ? fix : undefined,
  });
  const match = datePattern.exec(text);
  if (match === null) {
    return flaw(
      'bad_date',
      0,
      text.length,
      `${quote(text)} is not a date. A date bound is YYYY-MM-DD HH:MM:SS.`,
    );
  }
  const [, year = '', month = '', day = '', gap, hour = '', minute = '', second = '', fraction, zone] = match;
  const wrong = (at: number, message: string): Flaw => flaw('no_such_date', at, at + 2, message);
  const days = daysInMonth(Number(year), Number(month));
  if (!(Number(month) >= 1 && Number(month) <= 12)) return wrong(5, 'Months go from 01 to 12.');
  if (day === '00') return wrong(8, 'Days start at 01.');
  if (Number(day) > days) return wrong(8, `${months[Number(month) - 1]} ${year} has ${days} days.`);
  const date = `${year}-${month}-${day}`;
  if (gap === undefined) {
    return flaw(
      'bad_date',
      10,
      10,
      'The time is missing. A date bound is YYYY-MM-DD HH:MM:SS.',
      `${date} 00:00:00`,
    );
  }
  const time = 10 + gap.length;
  if (Number(hour) > 23) return wrong(time, 'Hours go from 00 to 23.');
  if (Number(minute) > 59) return wrong(time + 3, 'Minutes go from 00 to 59.');
  if (Number(second) > 59) return wrong(time + 6, 'Seconds go from 00 to 59.');
  if (zone !== undefined) {
    const from = text.length - zone.length;
    return flaw(
      'time_zone',
      from,
      text.length,
      'A date bound has no time zone: write the time as the API shows it.',
    );
  }
  const plain = `${date} ${hour}:${minute}:${second}`;
  if (gap !== ' ') return flaw('bad_date', 10, time, 'Use one space between date and time.', plain);
  // Dropping a fraction other than zero would move the bound.
  const fix = fraction !== undefined && !/[1-9]/.test(fraction) ? plain : undefined;
  return flaw('bad_date', 19, text.length, 'A date bound has no fraction of a second.', fix);
}

/** What is wrong with `text` as a bound of the type; undefined when nothing is. `*` is not a bound. */
export function boundFlaw(text: string, type: string): Flaw | undefined {
  if (isBound(text, type)) return undefined;
  const expected = [shapeOf(type)];
  const whole = { from: 0, to: text.length, expected };
  const quoted = /^(["'`])(.*)\1$/.exec(text);
  if (quoted !== null || /^["'`]/.test(text)) {
    const bare = quoted?.[2] ?? '';
    const fix = isBound(bare, type) || bare === '*' ? bare : undefined;
    return { ...whole, code: 'quoted', message: 'Bounds are written without quotes.', fix };
  }
  if (type === 'date') return dateFlaw(text);
  const value = Number(text);
  const plain = shortest(String(value));
  const fix = text !== '' && isBound(plain, type) ? plain : undefined;
  const message = /^-?\d+(\.\d+)?$/.test(text)
    ? `${quote(text)} is too large.`
    : `${quote(text)} is not a number here. ${fix === undefined ? 'Write digits, such as 2 or 2.5.' : `Write ${fix}.`}`;
  return { ...whole, code: 'bad_number', message, fix };
}
