import { dirname } from 'node:path';
import {
  type ConversionRules,
  checkRules,
  conditionsOf,
  type RulesFile,
  readRulesFile,
  type Tool,
} from '@call-attribution/conversions';
import { day, textOf } from '@call-attribution/core/time';
import { definitionsIn } from '@call-attribution/questions';
import { type Args, interval } from '../../args.ts';
import { noTimeZone, UsageError } from '../../errors.ts';
import { type Io, readText, say } from '../../io.ts';
import { askedPeriod, type FilterContext } from '../typed/filter.ts';
import { outcomesOf } from '../typed/outcomes.ts';

/**
 * Which calls count for a tool and at what value, and how many days before the range have to be
 * read to know it.
 */
export async function readRules(
  args: Args,
  context: FilterContext,
  tool: Tool & { readonly title: string },
  conversionName: string,
  io: Io,
): Promise<{ readonly rules: ConversionRules; readonly history: number }> {
  const { timeZone, definitions, exclude } = context;
  if (timeZone === null) throw noTimeZone(tool.title);
  const period = await askedPeriod(args, context);
  const { from } = textOf(period);
  const files = [{ called: null, files: context.outcomes }];
  const outcomes = await outcomesOf(args, files, timeZone, io);
  if (outcomes !== null) refuseBesideOutcomes(args);
  const minTalk = interval(args, 'min-talk', { min: 0 });
  const file = await readRuleFile(args, context, io);
  const rules: ConversionRules = {
    timeZone,
    conversionName,
    now: io.clock.now(),
    ...file.rules,
    definitions,
    ...(exclude === null || args.flag('no-exclude') ? {} : { exclude }),
    ...readValue(args, file),
    ...(minTalk === null ? {} : { minTalk }),
  };
  if (outcomes !== null) {
    const isComplete = args.flag('outcomes-complete');
    const ofOutcomes = { ...rules, outcomes: { ...outcomes, period, isComplete } };
    checkRules(ofOutcomes, tool);
    return { rules: ofOutcomes, history: Math.max(file.history, Math.ceil(outcomes.window / day)) };
  }

  const ofCalls = from === null ? rules : { ...rules, from };
  checkRules(ofCalls, tool);
  return { rules: ofCalls, history: file.history };
}

/** An outcome has a value of its own, and belongs to one of all calls of its caller. */
function refuseBesideOutcomes(args: Args): void {
  if (args.flag('value'))
    throw new UsageError('--value and --outcomes both give a value: remove --value');
  const chosen = ['where', 'q', 'min-talk'].find((option) => args.flag(option));
  if (chosen !== undefined)
    throw new UsageError(
      `--${chosen} does not go with --outcomes: without some calls an outcome would belong to another one`,
    );
}

async function readRuleFile(
  args: Args,
  { definitions, configFile }: FilterContext,
  io: Io,
): Promise<RulesFile> {
  const file = args.text('rules');
  if (file === null) return { rules: {}, history: 0 };
  const { path, text } = await readText('rules', file, io);
  const read = await readRulesFile(text, file, dirname(path), definitions);
  const used = definitionsIn(conditionsOf(read.rules), definitions);
  if (used.length > 0) say(io, `${file} uses ${used.join(', ')} of ${configFile}`);
  return read;
}

/** `25`, `25USD` or `"25 USD"`. */
const amountForm = /^(\d+(?:\.\d+)?)(?: ?([a-z]{3}))?$/i;

function readValue(args: Args, { rules }: RulesFile): Pick<ConversionRules, 'value' | 'currency'> {
  const typed = args.text('value');
  if (typed === null) {
    if (rules.currency !== undefined && rules.value === undefined)
      throw new UsageError(`${args.text('rules')}: currency needs a value`, [
        'add --value 25, or "value" or "valueRules" to the file',
      ]);
    return {};
  }

  const [, amount, currency] = amountForm.exec(typed) ?? [];
  if (amount === undefined)
    throw new UsageError(
      `--value must be an amount, with or without a currency, not ${JSON.stringify(typed)}`,
      ['write it as 25 or 25USD'],
    );

  if (rules.value !== undefined)
    throw new UsageError(
      `--value and ${args.text('rules')} both give a value; keep one of the two`,
    );

  const value = Number(amount);
  return { value, ...(currency === undefined ? {} : { currency }) };
}
