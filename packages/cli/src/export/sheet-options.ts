import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type ConversionRules,
  readValueRules,
  type SheetFormat,
  sheetFormats,
  ValueRulesError,
  valueByRules,
} from '@call-attribution/conversions';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

/** The upload sheet that the options describe. */
export interface SheetRequest {
  readonly format: SheetFormat;
  readonly rules: ConversionRules;
  /** File that lists the calls that are left out; null for none. */
  readonly leftOut: string | null;
}

const sheetOnly = [
  'conversion-name',
  'value',
  'value-rules',
  'currency',
  'left-out',
  'min-age',
  'repeated-hour',
];
const fileOnly = ['resume', 'format', 'fields', 'bom', 'spreadsheet-safe'];

/** Reads the options of an upload sheet; null without `--for`. What is missing is reported before any request. */
export async function readSheetRequest(
  args: Args,
  timeZone: string | null,
  io: Io,
): Promise<SheetRequest | null> {
  const format = Object.values(sheetFormats).find(({ name }) => name === args.text('for'));
  if (!format) {
    const stray = sheetOnly.find((name) => args.text(name) !== null);
    if (stray !== undefined) throw new UsageError(`--${stray} is for upload sheets; add --for`);
    return null;
  }
  const stray = fileOnly.find((name) => args.flag(name));
  if (stray !== undefined)
    throw new UsageError(`--${stray} cannot be used with --for: the tool determines the sheet`);
  if (timeZone === null) {
    throw new UsageError(
      `${format.title} needs a time zone: the API does not say which time zone its times are in`,
      { hints: ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'] },
    );
  }
  const conversionName = args.text('conversion-name')?.trim() ?? '';
  if (format.needsName && !/^\S.{0,99}$/u.test(conversionName)) {
    throw new UsageError(
      `${format.title} needs --conversion-name: at most 100 characters, spelled as in the tool`,
    );
  }
  const minAge = args.number('min-age');
  const repeatedHour = (['leave-out', 'first', 'second'] as const).find(
    (which) => which === args.text('repeated-hour'),
  );
  return {
    format,
    leftOut: readLeftOut(args, io),
    rules: {
      timeZone,
      conversionName,
      now: io.now().getTime(),
      ...(await readValue(args, io)),
      ...(minAge === null ? {} : { minAge: minAge * 3_600_000 }),
      ...(repeatedHour === undefined ? {} : { repeatedHour }),
    },
  };
}

async function readValue(args: Args, io: Io): Promise<Pick<ConversionRules, 'value' | 'currency'>> {
  const currency = args.text('currency');
  if (currency !== null && !/^[A-Z]{3}$/.test(currency)) {
    throw new UsageError(
      `--currency must be a code of three letters such as USD, not ${JSON.stringify(currency)}`,
    );
  }
  const fixed = args.number('value');
  const file = args.text('value-rules');
  if (fixed !== null && file !== null) throw new UsageError('give either --value or --value-rules, not both');
  if (fixed === null && file === null) {
    if (currency !== null) throw new UsageError('--currency needs a value: add --value or --value-rules');
    return {};
  }
  return {
    value: file === null ? () => fixed : await readRuleFile(file, io),
    ...(currency === null ? {} : { currency }),
  };
}

async function readRuleFile(file: string, io: Io): Promise<NonNullable<ConversionRules['value']>> {
  let text: string;
  try {
    text = await readFile(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new UsageError(`--value-rules: cannot read ${file}`, { cause: error });
  }
  try {
    const rules = readValueRules(text, file);
    return (call) => valueByRules(call, rules);
  } catch (error) {
    if (!(error instanceof ValueRulesError)) throw error;
    throw new UsageError(error.message, { hints: error.hint === null ? [] : [error.hint] });
  }
}

function readLeftOut(args: Args, io: Io): string | null {
  const leftOut = args.text('left-out');
  const output = args.text('output');
  if (leftOut !== null && output !== null && resolve(io.cwd, leftOut) === resolve(io.cwd, output))
    throw new UsageError('--output and --left-out name the same file; use two files');
  return leftOut;
}
