import { isCurrency, type SheetFormatName, sheetFormats } from '@call-attribution/conversions';
import { accountNameForm } from '@call-attribution/core/settings';
import {
  type Duration,
  day,
  durationMillis,
  hour,
  isTimeZone,
  parseDuration,
} from '@call-attribution/core/time';
import * as z from 'zod';
import {
  accessFields,
  accessOf,
  type Refuse,
  refusing,
  type Surroundings,
  shaped,
  text,
} from '../http/access-schema.ts';

// What a file of feeds may hold. zod is loaded with this, so only `readFeeds` and `readRulesFile`
// import it.

const checked = (isGood: (text: string) => boolean, expected: string) =>
  z.string(expected).refine(isGood, expected);
const span = (isGood: (text: string) => boolean, expected: string) =>
  z.custom<Duration>((value) => typeof value === 'string' && isGood(value), expected);
const amount = z.number('must be a number, 0 or greater').min(0, 'must be a number, 0 or greater');
const isDays = (days: string) => /^(?=.*[1-9])\d+(?:\.\d+)?[hdw]$/.test(days);
const days = (example: string) => span(isDays, `must be a duration such as 36h, ${example}`);
const isDuration = (time: string) => parseDuration(time) >= 0;
/** A condition. Names that are defined are only known when it is used, and then refused or not. */
const condition = z.string().min(1);
const consent = z.union([
  z.enum(['granted', 'denied']),
  z.strictObject({ granted: condition, denied: condition }).partial(),
]);

/** Which calls count, and at what value: of a feed, and of a file of rules. */
const rules = z
  .strictObject({
    value: amount,
    valueRules: z.union([text, z.record(z.string(), z.unknown())]),
    currency: checked(isCurrency, 'must be the code of a currency, such as USD'),
    minAge: span(isDuration, 'must be a duration such as 6h'),
    clickWindow: days('30d or 4w'),
    unanswered: z.boolean(),
    firstCallOnly: z.boolean(),
    oncePerCaller: days('30d or 4w'),
    history: days('90d or 12w'),
    repeatedHour: z.enum(['leave-out', 'first', 'second']),
    where: condition,
    consent: z.strictObject({
      adUserData: consent,
      adPersonalization: consent,
      otherwise: z.enum(['leave-out', 'unknown']).optional(),
    }),
  })
  .partial();

const fields = rules
  .extend({
    conversionName: z.string().trim().min(1).max(100),
    minTalk: span(isDuration, 'must be a duration such as 60s'),
    once: span(
      (every) => parseDuration(every) >= hour,
      'must be a duration of an hour or more, such as 1d',
    ),
    ledger: text,
    ...accessFields,
  })
  .partial()
  .extend({
    path: shaped(
      /^(?:\/[\w.~-]+)+\.(?:csv|tsv)$/,
      'must be a path of letters, digits, dots and dashes that ends in .csv or .tsv, such as /feeds/clicks.csv',
    ),
    format: z.enum(Object.keys(sheetFormats) as SheetFormatName[]),
    account: shaped(accountNameForm, 'must be an account ID, such as "101"'),
    window: days('14d or 2w'),
    timeZone: checked(isTimeZone, 'must be a time zone such as America/New_York'),
  });

/** A feed, as the file has it. */
export type FeedFields = z.infer<typeof fields>;

/** What a file of rules may hold. */
export const rulesSchema = rules.superRefine((read, context) =>
  checkValue(read, refusing(context)),
);

/** The rules of a file, as it has them. */
export type RuleFields = z.infer<typeof rulesSchema>;

/**
 * A file of feeds: what stands next to `feeds` holds for each feed that does not say otherwise.
 *
 * @param timeZone that of feeds that name none.
 */
export function feedsSchema(timeZone: string | null, surroundings: Surroundings) {
  const feed = fields
    .superRefine((read, context) => checkFeed(read, refusing(context)))
    .transform((read, context) => ({
      ...read,
      access: accessOf(read, surroundings, refusing(context)),
    }));
  const some = 'must be a list of at least one feed';
  return fields
    .partial()
    .extend({ feeds: z.array(fields.partial(), some).min(1, some) })
    .transform(({ feeds, ...shared }) => ({
      feeds: feeds.map((feed) => ({
        ...(timeZone === null ? {} : { timeZone }),
        ...shared,
        ...feed,
      })),
    }))
    .pipe(z.object({ feeds: z.array(feed).superRefine(checkPaths) }));
}

/** Refuses two values for one conversion. */
function checkValue({ value, valueRules }: RuleFields, refuse: Refuse<keyof FeedFields>): void {
  if (value !== undefined && valueRules !== undefined)
    refuse(null, 'has both value and valueRules', 'keep one of the two');
}

/** Refuses what does not go together in a feed. */
function checkFeed(feed: FeedFields, refuse: Refuse<keyof FeedFields>): void {
  const { path, window, once, ledger, conversionName = '', timeZone } = feed;
  const format = sheetFormats[feed.format];
  const { clickWindow } = format.accepts;
  const ending = format.delimiter === '\t' ? '.tsv' : '.csv';
  if (!path.endsWith(ending)) refuse('path', `must end in ${ending}, as the format is`);
  if (
    clickWindow !== null &&
    durationMillis(window, 'window') > durationMillis(clickWindow, 'window')
  )
    refuse(
      'window',
      `is too long: ${format.title} forgets a click after ${durationMillis(clickWindow, 'window') / day} days`,
    );

  if (format.needsName && conversionName === '')
    refuse('conversionName', `is missing: ${format.title} needs it, spelled as in the tool`);
  const columns = format.columns({ timeZone, conversionName, now: 0 });
  if (once === undefined && columns.every(({ isKey }) => !isKey))
    refuse(
      null,
      `is for ${format.title}, which adds what it gets, and so would count each call once per import`,
      'add "once": "1d" and "ledger": "uploads.ledger", so that each call is in it on one day',
    );

  checkValue(feed, refuse);
  const both = 'write both: "once": "1d", "ledger": "uploads.ledger"';
  if (once === undefined && ledger !== undefined)
    refuse('once', 'is missing: ledger needs it', both);
  if (once !== undefined && ledger === undefined)
    refuse('ledger', 'is missing: once needs it', both);
}

function checkPaths(feeds: readonly FeedFields[], context: z.RefinementCtx): void {
  for (const [at, { path }] of feeds.entries()) {
    const first = feeds.findIndex((other) => other.path === path);
    const message = `is the same as that of feeds[${first}]: ${path}`;
    if (first < at) context.addIssue({ code: 'custom', path: [at, 'path'], message });
  }
}
