import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type CallChange,
  type ConversionRules,
  explainChange,
  judgeOne,
  type Ledger,
  openLedger,
  type RulesFile,
  readRulesFile,
  sheetFormats,
  type Tool,
} from '@call-attribution/conversions';
import { pushTools } from '@call-attribution/conversions/push';
import { CallsError, codeOf } from '@call-attribution/core/errors';
import { scrub } from '@call-attribution/core/record';
import { readSmallFile } from '@call-attribution/core/settings';
import type { NamedRules } from '@call-attribution/settings';
import type { Words } from '../configured.ts';
import { callsUpTo } from '../copy/caller-calls.ts';
import type { SentCall } from '../copy/source.ts';
import { invalid, ToolError, unknownName } from '../text/failures.ts';
import type { ToolContext } from './tool.ts';

// Why a call counts as a conversion for a bid tool or does not: judged by the code of `calls sheet`,
// of the call as it was sent. What is said of it is masked.

const pushed: ReadonlyMap<string, Tool> = new Map(Object.entries(pushTools));

/** The tools, by the names of their sheets and pushes. */
export const bidTools: readonly string[] = [...Object.keys(sheetFormats), ...pushed.keys()];

/** Most calls of a caller that are read to know who has called before. */
const mostCalls = 100;

/** What is said of a call, and the same as data. */
interface Why {
  readonly said: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/** Judges a call for a tool by the rules of a name, or without by those of the tool alone. */
export async function whyCounts(
  sent: SentCall,
  toolName: string,
  rulesName: string | undefined,
  context: ToolContext,
): Promise<Why> {
  const { words, clock } = context;
  const { timeZone } = sent.account;
  const { called, tool, isPushed } = toolCalled(toolName);
  const named = rulesName === undefined ? null : rulesCalled(rulesName, words);
  if (timeZone === undefined)
    throw invalid(
      'no_time_zone',
      'Whether a call counts depends on when it was, and the time zone of the calls is not known.',
      'Tell the user to set CALLS_TIME_ZONE where this server is started.',
    );

  const { rules: own, history } =
    rulesName === undefined || named === null
      ? { rules: {}, history: 0 }
      : await readNamed(rulesName, named, words);
  const name = named?.conversionName ?? '';
  const rules: ConversionRules = {
    ...own,
    definitions: words.written,
    exclude: words.exclude,
    timeZone,
    now: clock.now(),

    // Without a ledger the name decides nothing.
    conversionName: name === '' && tool.needsName ? 'conversion' : name,
  };
  const calls = await callsUpTo(sent, history, mostCalls, context);
  if (calls === null)
    throw invalid(
      'too_many_calls',
      `The caller has more than ${mostCalls} calls in ${history} days, and the rules compare them.`,
      'Tell the user to ask calls get with --for, which reads them all.',
    );

  // What was pushed stands under the customer and the server that it went to, which no rules name.
  const ledger = await openNamed(rulesName, isPushed ? null : named?.ledger);
  try {
    const destination = `${called} ${rules.conversionName}`.trim();
    const asked = { name: called, tool, rules, destination };
    const judged = await judgeOne(sent.call, calls, asked, ledger);
    if (judged === null) throw new Error(`The call ${sent.call.sid} was not among its own calls.`);
    const { change, sentAt, data } = judged;
    const said = explainChange(maskedChange(change, rules, sent, words), {
      tool,
      rules: maskedRules(rules, words),
      sentAt,
    });
    return { said, data: { ...data, rules: rulesName ?? null } };
  } finally {
    await ledger?.close();
  }
}

function toolCalled(name: string): {
  readonly called: string;
  readonly tool: Tool;
  readonly isPushed: boolean;
} {
  const called = name.trim().toLowerCase();
  const isPushed = pushed.has(called);
  const ofSheet = Object.values(sheetFormats).find((each) => each.name === called);
  const tool = pushed.get(called) ?? ofSheet;
  if (tool !== undefined) return { called, tool, isPushed };
  throw unknownName('There is no bid tool', name, bidTools);
}

function rulesCalled(name: string, { rules }: Words): NamedRules {
  const found = rules.get(name);
  if (found !== undefined) return found;
  throw unknownName('There are no rules', name, [...rules.keys()]);
}

/** Reads the rules of a name. Where their file is and what is wrong in it is for the user alone. */
async function readNamed(name: string, { file }: NamedRules, words: Words): Promise<RulesFile> {
  try {
    return await readRulesFile(readSmallFile(file).text, name, dirname(file), words.written);
  } catch (error) {
    throw unreadable(`The rules ${name}`, error);
  }
}

/** The ledger of some rules: undefined where none is named, null where there is none yet. */
async function openNamed(
  name: string | undefined,
  file: string | null | undefined,
): Promise<Ledger | null | undefined> {
  if (file === null || file === undefined) return undefined;
  if (!existsSync(file)) return null;
  try {
    return await openLedger(file);
  } catch (error) {
    if (!CallsError.is(error, 'ledger_in_use'))
      throw unreadable(`The ledger of the rules ${name}`, error);
    throw new ToolError('ledger_in_use', {
      what: `The ledger of the rules ${name} is in use`,
      why: 'A run that sends conversions has it.',
      next: 'Ask again when it has ended, or without rules.',
      retry: 'Yes, in a minute.',
    });
  }
}

function unreadable(what: string, error: unknown): ToolError {
  if (!(error instanceof CallsError) && codeOf(error) === undefined) throw error;
  return new ToolError('rules_unreadable', {
    what: `${what} cannot be read`,
    why: 'The file that the configuration names for it is missing or has a mistake.',
    next: 'Tell the user to run calls get with --for and --rules, which says what is wrong.',
    retry: 'Not before that.',
  });
}

/** A change without what agents must not see: a condition with values, a click that was hidden. */
function maskedChange(
  change: CallChange,
  { value }: ConversionRules,
  { call, account }: SentCall,
  words: Words,
): CallChange {
  const { conversion } = change;
  if (conversion === null) return change;
  const { click, rule } = conversion;
  const isCondition =
    typeof value === 'object' &&
    value.rules.some((each) => each.name === undefined && each.where === rule);
  const isShown = click !== null && JSON.stringify(account.mask(call)).includes(click.id);
  return {
    ...change,
    conversion: {
      ...conversion,
      rule: rule !== null && isCondition ? words.shownText(rule) : rule && scrub(rule),
      click: click === null || isShown ? click : { ...click, id: '…' },
    },
  };
}

/** Rules without the values that their conditions compare hidden fields with. */
function maskedRules(given: ConversionRules, { shownText }: Words): ConversionRules {
  const { value, where: chosen } = given;
  const rules = { ...given, where: chosen === undefined ? undefined : shownText(chosen) };
  if (typeof value !== 'object') return rules;
  const table = value.rules.map(({ where, ...rule }) => ({
    ...rule,
    where: where === undefined ? undefined : shownText(where),
  }));
  return { ...rules, value: { ...value, rules: table } };
}
