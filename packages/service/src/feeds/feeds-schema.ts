import { isCurrency, type SheetFormat, sheetFormats } from '@call-attribution/conversions';
import { accountNameForm } from '@call-attribution/core/settings';
import { day, durationMillis, hour, isTimeZone, parseDuration } from '@call-attribution/core/time';
import * as z from 'zod';
import { accessFields, accessSchema, type Surroundings } from './access-schema.ts';

// What a file of feeds may hold. zod is loaded with this, so only `readFeeds` imports it.

const shaped = (form: RegExp, expected: string) => z.string(expected).regex(form, expected);
const checked = (isGood: (text: string) => boolean, expected: string) =>
  z.string(expected).refine(isGood, expected);
const text = z.string().min(1);
const isDuration = (span: string) => parseDuration(span) >= 0;
const amount = z.number('must be a number, 0 or greater').min(0, 'must be a number, 0 or greater');
const days = /^(?=.*[1-9])\d+(?:\.\d+)?[hdw]$/;
const consent = z.enum(['granted', 'denied']);

/** Which calls count, and at what value: of a feed, and of a file of rules. */
const rules = {
  value: amount.optional(),
  valueRules: z.union([text, z.record(z.string(), z.unknown())]).optional(),
  currency: checked(isCurrency, 'must be the code of a currency, such as USD').optional(),
  minAge: checked(isDuration, 'must be a duration such as 6h').optional(),
  clickWindow: shaped(days, 'must be a duration such as 36h, 30d or 4w').optional(),
  unanswered: z.boolean().optional(),
  firstCallOnly: z.boolean().optional(),
  oncePerCaller: shaped(days, 'must be a duration such as 36h, 30d or 4w').optional(),
  history: shaped(days, 'must be a duration such as 36h, 90d or 12w').optional(),
  repeatedHour: z.enum(['leave-out', 'first', 'second']).optional(),
  consent: z.strictObject({ adUserData: consent, adPersonalization: consent }).optional(),
};

const fields = z.strictObject({
  ...rules,
  path: shaped(
    /^(?:\/[\w.~-]+)+\.(?:csv|tsv)$/,
    'must be a path of letters, digits, dots and dashes that ends in .csv or .tsv, such as /feeds/clicks.csv',
  ),
  format: z.enum(Object.values(sheetFormats).map(({ name }) => name)),
  account: shaped(accountNameForm, 'must be an account ID, such as "101"'),
  window: shaped(days, 'must be a duration such as 36h, 14d or 2w'),
  timeZone: checked(isTimeZone, 'must be a time zone such as America/New_York'),
  conversionName: z.string().trim().min(1).max(100).optional(),
  minTalk: checked(isDuration, 'must be a duration such as 60s').optional(),
  once: checked(
    (every) => parseDuration(every) >= hour,
    'must be a duration of an hour or more, such as 1d',
  ).optional(),
  ledger: text.optional(),
  ...accessFields,
});

/** A feed, as the file has it. */
export type FeedFields = z.infer<typeof fields>;

/** What a file of rules may hold. */
export const rulesSchema = z.strictObject(rules).superRefine(checkValue);

/** The rules of a file, as it has them. */
export type RuleFields = z.infer<typeof rulesSchema>;

/**
 * A file of feeds: what stands next to `feeds` holds for each feed that does not say otherwise.
 *
 * @param timeZone that of feeds that name none.
 */
export function feedsSchema(timeZone: string | null, surroundings: Surroundings) {
  const feed = z.intersection(
    fields.superRefine(checkFeed),
    accessSchema(surroundings).transform((access) => ({ access })),
  );
  const some = 'must be a list of at least one feed';
  return fields
    .partial()
    .extend({ feeds: z.array(fields.partial(), some).min(1, some) })
    .transform(({ feeds, ...shared }) => ({
      feeds: feeds.map((feed) => ({ ...(timeZone === null ? {} : { timeZone }), ...shared, ...feed })),
    }))
    .pipe(z.object({ feeds: z.array(feed).superRefine(checkPaths) }));
}

/** Refuses two values for one conversion. */
function checkValue({ value, valueRules }: RuleFields, context: z.RefinementCtx): void {
  if (value !== undefined && valueRules !== undefined)
    refusing(context)(null, 'has both value and valueRules', 'keep one of the two');
}

type Refuse = (name: keyof FeedFields | null, message: string, hint?: string) => void;

/** Adds a problem of a name, or of the whole. */
const refusing =
  (context: z.RefinementCtx): Refuse =>
  (name, message, hint) =>
    context.addIssue({ code: 'custom', path: name === null ? [] : [name], message, params: { hint } });

/** Refuses what does not go together in a feed. */
function checkFeed(feed: FeedFields, context: z.RefinementCtx): void {
  const refuse = refusing(context);
  const format = sheetFormats[feed.format];
  checkFormat(feed, format, refuse);
  checkValue(feed, context);
  const { once, ledger } = feed;
  const both = 'write both: "once": "1d", "ledger": "uploads.ledger"';
  if (once === undefined && ledger !== undefined) refuse('once', 'is missing: ledger needs it', both);
  if (once !== undefined && ledger === undefined) refuse('ledger', 'is missing: once needs it', both);
}

function checkFormat(feed: FeedFields, format: SheetFormat, refuse: Refuse): void {
  const { path, window, once, conversionName = '', timeZone } = feed;
  const ending = format.delimiter === '\t' ? '.tsv' : '.csv';
  if (!path.endsWith(ending)) refuse('path', `must end in ${ending}, as the format is`);
  const most =
    format.accepts.clickWindow === null ? null : durationMillis(format.accepts.clickWindow, 'window');
  if (most !== null && parseDuration(window) > most)
    refuse('window', `is too long: ${format.title} forgets a click after ${most / day} days`);
  if (format.needsName && conversionName === '')
    refuse('conversionName', `is missing: ${format.title} needs it, spelled as in the tool`);
  const columns = format.columns({ timeZone, conversionName, now: 0 });
  if (once === undefined && columns.every(({ isKey }) => !isKey))
    refuse(
      null,
      `is for ${format.title}, which adds what it gets, and so would count each call once per import`,
      'add "once": "1d" and "ledger": "uploads.ledger", so that each call is in it on one day',
    );
}

function checkPaths(feeds: readonly FeedFields[], context: z.RefinementCtx): void {
  for (const [at, { path }] of feeds.entries()) {
    const first = feeds.findIndex((other) => other.path === path);
    if (first < at)
      context.addIssue({
        code: 'custom',
        path: [at, 'path'],
        message: `is the same as that of feeds[${first}]: ${path}`,
      });
  }
}
