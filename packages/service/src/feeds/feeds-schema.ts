import { type SheetFormatName, sheetFormats } from '@call-attribution/conversions';
import {
  checked,
  days,
  isDuration,
  keepOne,
  ruleFields,
  span,
  twoValues,
} from '@call-attribution/conversions/rules';
import { day, durationMillis, hour, isTimeZone, parseDuration } from '@call-attribution/core/time';
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

// What a file of feeds may hold. zod is loaded with this, so only `readFeeds` imports
// it.

const fields = ruleFields
  .extend({
    conversionName: z.string().trim().min(1).max(100),
    minTalk: span(isDuration, 'must be a duration such as 60s'),
    once: span(
      (every) => parseDuration(every) >= hour,
      'must be a duration of an hour or more, such as 1d',
    ),
    ledger: text,
    outcomes: text,
    outcomeDates: z.enum(['dmy', 'mdy', 'ymd']),
    outcomeWindow: days('30d or 4w'),
    ...accessFields,
  })
  .partial()
  .extend({
    path: shaped(
      /^(?:\/[\w.~-]+)+\.(?:csv|tsv)$/,
      'must be a path of letters, digits, dots and dashes that ends in .csv or .tsv, such as /feeds/clicks.csv',
    ),
    format: z.enum(Object.keys(sheetFormats) as SheetFormatName[]),
    account: shaped(/\S/, 'must be the ID of an account, such as "101", or its name'),
    window: days('14d or 2w'),
    timeZone: checked(isTimeZone, 'must be a time zone such as America/New_York'),
  });

/** A feed that is an upload sheet, as the file has it. */
export type FeedFields = z.infer<typeof fields>;

/** A feed that is a report. Its time zone and its period are its own. */
const reportFields = z
  .strictObject(accessFields)
  .partial()
  .extend({
    kind: z.literal('report'),
    path: shaped(
      /^(?:\/[\w.~-]+)+\.csv$/,
      'must be a path of letters, digits, dots and dashes that ends in .csv, such as /weekly.csv',
    ),
    report: text,
    account: fields.shape.account,
  });

/** A feed that is a report, as the file has it. */
export type ReportFields = z.infer<typeof reportFields>;

/**
 * A file of feeds: what stands next to `feeds` holds for each feed that does not say otherwise.
 *
 * @param timeZone that of feeds that name none.
 */
export function feedsSchema(timeZone: string | null, surroundings: Surroundings) {
  const sheet = fields
    .extend({ kind: z.literal('sheet') })
    .superRefine((read, context) => checkFeed(read, refusing(context)))
    .transform((read, context) => ({
      ...read,
      access: accessOf(read, surroundings, refusing(context)),
    }));
  const report = reportFields.transform((read, context) => ({
    ...read,
    access: accessOf(read, surroundings, refusing(context)),
  }));
  const some = 'must be a list of at least one feed';
  const any = fields.extend({ report: text }).partial();
  return fields
    .partial()
    .extend({ feeds: z.array(any, some).min(1, some) })
    .transform(({ feeds, ...shared }) => ({
      feeds: feeds.map((feed) => {
        const ofAll = { ...(timeZone === null ? {} : { timeZone }), ...shared };
        if (feed.report === undefined) return { kind: 'sheet', ...ofAll, ...feed };

        // What is shared says much about sheets.
        const ofReports = Object.entries(shared).filter(([name]) => sharedByReports.includes(name));
        return { kind: 'report', ...Object.fromEntries(ofReports), ...feed };
      }),
    }))
    .pipe(
      z.object({
        feeds: z.array(z.discriminatedUnion('kind', [sheet, report])).superRefine(checkPaths),
      }),
    );
}

const sharedByReports = ['account', ...Object.keys(accessFields)];

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

  const { outcomes, outcomeDates, outcomeWindow } = feed;
  if (outcomes === undefined && (outcomeDates !== undefined || outcomeWindow !== undefined))
    refuse('outcomes', 'is missing: outcomeDates and outcomeWindow say how its file is read');
  if (outcomes !== undefined && (feed.value !== undefined || feed.valueRules !== undefined))
    refuse('outcomes', 'does not go with value or valueRules: each outcome has a value');

  if (outcomes !== undefined && !format.accepts.takesValue)
    refuse('outcomes', `is not for ${format.title}, which takes calls without a value`);

  const two = twoValues(feed);
  if (two !== null) refuse(null, two, keepOne);
  const both = 'write both: "once": "1d", "ledger": "uploads.ledger"';
  if (once === undefined && ledger !== undefined)
    refuse('once', 'is missing: ledger needs it', both);
  if (once !== undefined && ledger === undefined)
    refuse('ledger', 'is missing: once needs it', both);
}

/** Paths are different, and no conversion gets calls and what they became. */
function checkPaths(
  feeds: readonly ((FeedFields & { readonly kind: 'sheet' }) | ReportFields)[],
  context: z.RefinementCtx,
): void {
  const kinds = new Map<string, boolean>();
  for (const [at, feed] of feeds.entries()) {
    if (feed.kind === 'report') continue;
    const { account, format, conversionName, outcomes } = feed;
    const conversion = JSON.stringify([account, format, conversionName]);
    const isOfOutcomes = outcomes !== undefined;
    const message = `is that of a feed of ${isOfOutcomes ? 'calls' : 'outcomes'}, and one call would count twice: give outcomes a conversion of their own`;
    if ((kinds.get(conversion) ?? isOfOutcomes) !== isOfOutcomes)
      context.addIssue({ code: 'custom', path: [at, 'conversionName'], message });
    kinds.set(conversion, isOfOutcomes);
  }

  for (const [at, { path }] of feeds.entries()) {
    const first = feeds.findIndex((other) => other.path === path);
    const message = `is the same as that of feeds[${first}]: ${path}`;
    if (first < at) context.addIssue({ code: 'custom', path: [at, 'path'], message });
  }
}
