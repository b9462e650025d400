import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type ConversionRules,
  checkRules,
  isCurrency,
  RulesError,
  readValueRules,
  type SheetFormat,
  sheetFormats,
  type Tool,
  type ValueRules,
  valueByRules,
} from '@call-attribution/conversions';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type FilterContext, rangeOf } from '../reading/filter.ts';

/** The upload sheet that the options describe. */
export interface SheetRequest {
  readonly format: SheetFormat;
  readonly rules: ConversionRules;
  /** File that lists the calls that are left out; null for none. */
  readonly leftOut: string | null;
  /** Where the ledger is; null for none. */
  readonly ledger: string | null;
  /** Nothing is written. */
  readonly isDryRun: boolean;
  /** Days before the range whose calls are read to know who has called before. */
  readonly history: number;
}

const sheetOnly = [
  'conversion-name',
  'value',
  'value-rules',
  'currency',
  'left-out',
  'min-age',
  'repeated-hour',
  'once-per-caller',
  'history',
  'click-window',
  'ad-user-data',
  'ad-personalization',
  'ledger',
];
const sheetOnlyFlags = ['unanswered', 'first-call-only', 'dry-run'];
const fileOnly = ['resume', 'format', 'fields', 'spreadsheet', 'partition'];

/** Reads the options of an upload sheet; null without `--for`. What is missing or wrong is reported before any request. */
export async function readSheetRequest(
  args: Args,
  context: FilterContext,
  io: Io,
): Promise<SheetRequest | null> {
  const format = Object.values(sheetFormats).find(({ name }) => name === args.text('for'));
  if (!format) {
    const stray =
      sheetOnly.find((name) => args.text(name) !== null) ?? sheetOnlyFlags.find((name) => args.flag(name));
    if (stray !== undefined) throw new UsageError(`--${stray} is for upload sheets; add --for`);
    return null;
  }
  const stray = fileOnly.find((name) => args.flag(name));
  if (stray !== undefined)
    throw new UsageError(`--${stray} cannot be used with --for: the tool determines the sheet`);
  checkEnding(args);
  const conversionName = args.text('conversion-name')?.trim() ?? '';
  if (format.needsName && !/^\S.{0,99}$/u.test(conversionName)) {
    throw new UsageError(
      `${format.title} needs --conversion-name: at most 100 characters, spelled as in the tool`,
    );
  }
  const { rules, history } = await readRules(args, context, format, conversionName, io);
  return {
    format,
    rules,
    leftOut: readLeftOut(args, io),
    ledger: readLedger(args),
    isDryRun: args.flag('dry-run'),
    history,
  };
}

/** Which calls count for a tool and at what value, and how many days before the range have to be read to know it. */
export async function readRules(
  args: Args,
  context: FilterContext,
  tool: Tool & { readonly title: string },
  conversionName: string,
  io: Io,
): Promise<Pick<SheetRequest, 'rules' | 'history'>> {
  const { timeZone } = context;
  if (timeZone === null) {
    throw new UsageError(
      `${tool.title} needs a time zone: the API does not say which time zone its times are in`,
      { hints: ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'] },
    );
  }
  const { from } = rangeOf(args, context);
  const { table = null, ...value } = await readValue(args, io);
  const rules: ConversionRules = {
    timeZone,
    conversionName,
    now: io.now().getTime(),
    ...value,
    ...readCounting(args),
    ...readConsent(args),
    ...(from === null ? {} : { from }),
  };
  try {
    checkRules(rules, tool);
  } catch (error) {
    if (error instanceof RulesError) throw new UsageError(error.message);
    throw error;
  }
  return { rules, history: readHistory(args, rules, table) };
}

function checkEnding(args: Args): void {
  const output = args.text('output') ?? '-';
  const extension = /\.(\w+)$/.exec(output.replace(/\.gz$/, ''))?.[1]?.toLowerCase();
  if (extension === undefined || ['csv', 'tsv', 'txt'].includes(extension)) return;
  throw new UsageError(`--output ${output}: a sheet is a text file, and the name says another kind`, {
    hints: ['end the name in .csv, .tsv or .txt; with .gz after it the file is compressed'],
  });
}

/** The rules that decide which calls count. */
function readCounting(args: Args): Partial<ConversionRules> {
  const minAge = args.number('min-age');
  const minTalk = args.number('min-talk');
  const clickWindow = args.number('click-window');
  const oncePerCallerDays = args.number('once-per-caller');
  const repeatedHour = (['leave-out', 'first', 'second'] as const).find(
    (which) => which === args.text('repeated-hour'),
  );
  return {
    ...(minAge === null ? {} : { minAge: minAge * 3_600_000 }),
    ...(minTalk === null ? {} : { minTalk: minTalk * 60 }),
    ...(clickWindow === null ? {} : { clickWindow }),
    ...(oncePerCallerDays === null ? {} : { oncePerCallerDays }),
    ...(repeatedHour === undefined ? {} : { repeatedHour }),
    ...(args.flag('unanswered') ? { unanswered: true } : {}),
    ...(args.flag('first-call-only') ? { firstCallOnly: true } : {}),
  };
}

function readConsent(args: Args): Pick<ConversionRules, 'consent'> {
  const [adUserData, adPersonalization] = ['ad-user-data', 'ad-personalization'].map((name) =>
    (['granted', 'denied'] as const).find((choice) => choice === args.text(name)),
  );
  if (adUserData === undefined && adPersonalization === undefined) return {};
  if (adUserData === undefined || adPersonalization === undefined)
    throw new UsageError('consent has two parts: give both --ad-user-data and --ad-personalization');
  return { consent: { adUserData, adPersonalization } };
}

function readHistory(args: Args, rules: ConversionRules, table: ValueRules | null): number {
  const days = args.number('history');
  const { firstCallOnly, oncePerCallerDays = 0 } = rules;
  const needsFirst = firstCallOnly || table?.rules.some(({ caller }) => caller !== undefined);
  if (days !== null && !needsFirst && oncePerCallerDays === 0)
    throw new UsageError(
      '--history is for rules about callers: --first-call-only, --once-per-caller, "caller" in the value rules',
    );
  return days ?? Math.max(needsFirst ? 90 : 0, oncePerCallerDays);
}

async function readValue(
  args: Args,
  io: Io,
): Promise<Pick<ConversionRules, 'value' | 'currency'> & { readonly table?: ValueRules }> {
  const currency = args.text('currency');
  if (currency !== null && !isCurrency(currency)) {
    throw new UsageError(
      `--currency must be a code of three letters such as USD, and ${JSON.stringify(currency)} is not a currency`,
    );
  }
  const fixed = args.number('value');
  const file = args.text('value-rules');
  if (fixed !== null && file !== null) throw new UsageError('give either --value or --value-rules, not both');
  if (fixed === null && file === null) {
    if (currency !== null) throw new UsageError('--currency needs a value: add --value or --value-rules');
    return {};
  }
  const table = file === null ? null : await readRuleFile(file, io);
  return {
    value: table === null ? () => fixed : (call, caller) => valueByRules(call, table, caller),
    ...(currency === null ? {} : { currency }),
    ...(table === null ? {} : { table }),
  };
}

async function readRuleFile(file: string, io: Io): Promise<ValueRules> {
  let text: string;
  try {
    text = await readFile(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new UsageError(`--value-rules: cannot read ${file}`, { cause: error });
  }
  return readValueRules(text, file);
}

function readLeftOut(args: Args, io: Io): string | null {
  const leftOut = args.text('left-out');
  const output = args.text('output');
  if (leftOut !== null && output !== null && resolve(io.cwd, leftOut) === resolve(io.cwd, output))
    throw new UsageError('--output and --left-out name the same file; use two files');
  return leftOut;
}

function readLedger(args: Args): string | null {
  const ledger = args.text('ledger');
  if (ledger !== null && args.text('output') === '-' && !args.flag('dry-run'))
    throw new UsageError('--ledger needs a file in --output: it cannot know what became of stdout');
  return ledger;
}
