import { propertyOf } from '@call-attribution/core/errors';
import { type Call, fields } from '@call-attribution/core/record';
import { addDays, day, parseNaive } from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { UsageError } from '../errors.ts';

/** One way to group calls. */
export interface Dimension {
  /** As typed after --by. */
  readonly name: string;
  /** The field of a call, or the stretch of time such as `day`. */
  readonly field: string;
  readonly title: string;
  /** Groups of time are in order and without gaps; other groups are ranked by their calls. */
  readonly time: boolean;
  /** The groups are personal data of callers. */
  readonly personal: boolean;
  keyOf(call: Call): string;
  /** All calls of an account are in this one group, which is named after it. */
  readonly account?: string;
  /** All keys from the first to the last, in order and without gaps. Only for time. */
  fill?(keys: readonly string[]): string[];
}

/** The key of calls without a value. */
export const none = '(none)';

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const hours = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`);

const dateOf = (call: Call): string => String(call.date_added ?? '').slice(0, 10);
const midnight = (date: string): number => parseNaive(`${date} 00:00:00`);
const isDate = (text: string): boolean => !Number.isNaN(midnight(text));
// Monday is 0.
const weekdayOf = (date: string): number => (new Date(midnight(date)).getUTCDay() + 6) % 7;

const times: readonly Dimension[] = [
  time(
    'day',
    'Day',
    (date) => date,
    (keys) => steps(keys, 1),
  ),
  time(
    'week',
    'Week from',
    (date) => addDays(date, -weekdayOf(date)),
    (keys) => steps(keys, 7),
  ),
  time('month', 'Month', (date) => date.slice(0, 7), months),
  time(
    'weekday',
    'Weekday',
    (date) => weekdays[weekdayOf(date)] ?? none,
    () => weekdays,
  ),
  {
    ...time(
      'hour',
      'Hour',
      (date) => date,
      () => hours,
    ),
    keyOf: (call) => {
      const hour = String(call.date_added ?? '').slice(11, 13);
      return /^\d{2}$/.test(hour) ? `${hour}:00` : none;
    },
  },
];

const shortNames: Readonly<Record<string, string>> = {
  campaign: 'ppc_campaign',
  'ad-group': 'ppc_adgroup',
  keyword: 'ppc_keywords',
  label: 'phone_label',
  source: 'referrer',
  status: 'ppc_status',
  device: 'vt_device',
};

/** All names that `--by` takes. */
export const groupNames: readonly string[] = [
  ...times.map(({ name }) => name),
  ...Object.keys(shortNames),
  ...fields.map(({ name }) => name),
  'account',
];

/** The dimensions of `--by`. With several accounts, `account` is one: each of them is a group. */
export function readDimensions(names: readonly string[], account: string | null = null): Dimension[] {
  if (names.length > 2) throw new UsageError(`--by takes one or two groups, not ${names.length}`);
  if (new Set(names).size < names.length) throw new UsageError(`--by has ${names[0]} twice`);
  return names.map((name) =>
    name === 'account' && account !== null ? accountDimension(account) : dimension(name),
  );
}

function accountDimension(account: string): Dimension {
  return {
    name: 'account',
    field: 'account',
    title: 'Account',
    time: false,
    personal: false,
    account,
    keyOf: () => account,
  };
}

function dimension(name: string): Dimension {
  const known = times.find((entry) => entry.name === name);
  if (known) return known;
  const fieldName = shortNames[name] ?? name;
  const field = fields.find((entry) => entry.name === fieldName);
  if (name === 'account') {
    throw new UsageError('--by account groups the calls of several accounts', {
      hints: ['add --all-accounts, or --account with several names'],
    });
  }
  if (!field) {
    const near = nearest(name, groupNames);
    throw new UsageError(`--by cannot group by ${JSON.stringify(name)}`, {
      hints: [
        near
          ? `did you mean ${near}?`
          : `use ${groupNames.slice(0, 12).join(', ')} or a field; calls fields lists all fields`,
      ],
    });
  }
  return {
    name,
    field: fieldName,
    title: titleOf(name),
    time: false,
    personal: field.personal,
    keyOf: (call) => {
      const value = propertyOf(call, fieldName);
      return value === null || value === undefined || value === '' ? none : String(value);
    },
  };
}

function titleOf(name: string): string {
  const words = name.replace(/^ppc_/, '').replace(/[_-]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function time(
  name: string,
  title: string,
  of: (date: string) => string,
  fill: (keys: readonly string[]) => string[],
): Dimension {
  return {
    name,
    field: name,
    title,
    time: true,
    personal: false,
    keyOf: (call) => {
      const date = dateOf(call);
      return isDate(date) ? of(date) : none;
    },
    fill: (keys) => [...fill(keys.filter((key) => key !== none)), ...(keys.includes(none) ? [none] : [])],
  };
}

// One wrong date far away must not fill the page with empty days.
const longest = 5_000;

function steps(keys: readonly string[], days: number): string[] {
  const sorted = [...keys].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return [];
  const length = Math.round((midnight(last) - midnight(first)) / (days * day)) + 1;
  if (length > longest) return sorted;
  return Array.from({ length }, (_, at) => addDays(first, at * days));
}

function months(keys: readonly string[]): string[] {
  const sorted = [...keys].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return [];
  const index = (key: string): number => Number(key.slice(0, 4)) * 12 + Number(key.slice(5)) - 1;
  const length = index(last) - index(first) + 1;
  if (length > longest) return sorted;
  return Array.from({ length }, (_, at) => {
    const month = index(first) + at;
    return `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;
  });
}
