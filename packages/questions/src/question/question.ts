import {
  checkOption,
  defineOptions,
  type OptionsOf,
  option,
  type ReadOf,
} from '@call-attribution/core/options';
import type { Condition } from '../conditions/condition.ts';

/** The number of different values of a field. */
export interface DistinctMeasure {
  /** The field. */
  readonly distinct: string;
}

// What a value says is checked where it is read, with better messages.

const text = <V extends string>() => option.of<V>('a string', (value) => typeof value === 'string');
const time = () => text<string>().expecting("a time such as '2026-11-20'");
const finite = () => option.of<number>('a number', Number.isFinite, true);
const count = () => option.of<number>('a whole number', Number.isSafeInteger, true);
const strings = (what: string) =>
  option.of<readonly string[]>(
    `an array of ${what}`,
    (value) => Array.isArray(value) && Array.from(value).every((each) => typeof each === 'string'),
  );
const condition = () =>
  option
    .string()
    .or(option.object<Condition>())
    .expecting("a condition such as 'talk_minutes >= 2', or one as an object");

/** The options of a selection. */
export const selectionOptions = defineOptions({
  /** First moment, `2026-10-01`, `2026-10-01 08:30:00` or `yesterday`; `28d` is from the midnight 28 days ago to now. Default: the first call. */
  from: time(),
  /** End of the period: a date or `last month` is included, a time ends the period just before it. Default: after the last call. */
  to: time(),
  /**
   * The period as people say it, instead of `from` and `to`: `yesterday`, `last month`, `this week`, `last 28 days`, `2026-Q3`,
   * `2026-10`, `2026-10-01 to 2026-10-15`, `since 2026-10-01`.
   */
  period: option.string(),
  /** The IANA time zone that the times of the records are in. The API does not say it; only `inZone` needs it. */
  timeZone: option.string(),
  /** Report in this time zone: `from`, `to` and groups by time are then in it. Needs `timeZone`. */
  inZone: option.string(),
  /** Accounts to count. Default: all. */
  accounts: strings('names'),
  /** Calls from visits of a website, calls through call extensions, or all. Default all. */
  calls: text<'all' | 'website' | 'extensions'>(),
  /** A condition on any field, such as `talk_minutes >= 2 AND state IN ('TX', 'CA')`. */
  where: condition(),
  /** The day that weeks begin with, in groups, conditions and periods. Default Monday. */
  weekStart: option.oneOf('monday', 'sunday'),
  /**
   * A filter in the language of the API, as a v3 server would read it: without `inc_gce:1`, calls through call
   * extensions are left out unless `calls` is given.
   */
  q: option.string(),
});

/** Which calls to count, in which period. */
export interface CallSelection extends OptionsOf<typeof selectionOptions> {}

const limitOptions = defineOptions({
  /** Ends the question. */
  signal: option.signal(),
  /** How long a warehouse may take for the question. Default `1m`. */
  timeLimit: option.timeout(),
});

/** What ends a question early. */
export interface QuestionLimits extends OptionsOf<typeof limitOptions> {}

const countOptions = defineOptions({ ...selectionOptions.entries, ...limitOptions.entries });

const comparedOptions = defineOptions({
  /** The first day or moment of the other period. */
  from: time().required(),
  /** Its end, as in `CallSelection`. */
  to: time().required(),
});

/** A period to compare with. */
export interface ComparedPeriod extends OptionsOf<typeof comparedOptions> {}

const measureKind = option
  .string()
  .or(option.table<DistinctMeasure, DistinctMeasure>(defineOptions({ distinct: option.string().required() })))
  .expecting("a measure such as 'calls' or 'share(rank >= 4)', or { distinct: field }");

const questionOptions = defineOptions({
  ...countOptions.entries,
  /** Up to four fields or derived ones, such as `ppc_campaign`, `day` or `caller_type`. Default: one group of all calls. */
  groupBy: strings('names of fields'),
  /**
   * What to measure: names such as `calls` or `missed_rate`, `distinct(field)`, `without(field)`, `count(condition)`,
   * `share(condition)`, `called_back_within(hours)`. ` as name` after it names the column. Default `['calls']`.
   */
  measures: option.list<string | DistinctMeasure>().checking((measures, name) => {
    for (const [i, measure] of measures.entries()) checkOption(`${name}[${i}]`, measureKind, measure);
  }),
  /** A condition on the measures of a group, such as `calls >= 10 AND missed_rate > 0.2`. */
  having: option.string(),
  /**
   * Columns to sort by, such as `calls desc, ppc_campaign`. Default: time in its order, otherwise most of the first
   * measure first.
   */
  order: option.string(),
  /** Rows at most. The answer says how many groups there are. Default 1,000. */
  limit: count(),
  /** Rows at most for each value of the first group, in the order of `order`. */
  topPer: count(),
  /**
   * Another period to compare with: the one before it, the same a year earlier, or one of your own, such as `last month`. Each
   * measure then has `..._before` and `..._change` next to it.
   */
  compare: text<'previous' | 'year' | (string & {})>()
    .or(option.table<ComparedPeriod, ComparedPeriod>(comparedOptions))
    .expecting("'previous', 'year', a period such as '2026-10' or { from, to }"),
  /**
   * What was spent on each value of the only group, by the text that answers show for it (`2026-05`, `Mon`, `8`, `true`), in any
   * case: adds `spend` and `cost_per_call`. Personal values are named as they are, whatever mask shows them.
   */
  spend: option
    .object<Readonly<Record<string, number>>>()
    .expecting("an object such as { 'Brand': 90 }")
    .checking((spend, name) => {
      for (const [key, amount] of Object.entries(spend))
        checkOption(`${name}[${JSON.stringify(key.slice(0, 40))}]`, finite(), amount);
    }),
  /**
   * What to do with a group by personal data, such as `ani`: show it, or show what a function makes of it, such as a mask.
   * Without it such a question is refused.
   */
  personal: option.of<'show' | ((field: string, value: string) => string)>(
    "'show' or a function",
    (value) => value === 'show' || typeof value === 'function',
    true,
  ),
});

/** A question: which calls, grouped by what, what of each group, and which groups to show. */
export interface Question extends OptionsOf<typeof questionOptions> {}

/** What ends a question early, as it is read. */
export interface ReadLimits extends ReadOf<typeof limitOptions> {}

/** Refuses a question with unknown options, or with values of another type: it would be answered as another question. */
export function checkQuestion(question: Question): ReadLimits {
  checkNamed('question', question, questionOptions);
  return limitOptions.fill(question);
}

/** The same for what `count` takes. */
export function checkCount(selection: CallSelection & QuestionLimits): ReadLimits {
  checkNamed('selection', selection, countOptions);
  return limitOptions.fill(selection);
}

/** Refuses unknown options of the argument `name`, and values of another type. */
export function checkNamed(name: string, given: unknown, table: { check(given: unknown): void }): void {
  checkOption(name, option.object(), given);
  table.check(given);
}
