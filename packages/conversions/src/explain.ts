import type { Call } from '@call-attribution/core/record';
import { durationMillis, formatNaive, naiveAt, second } from '@call-attribution/core/time';
import { type CallChange, type Change, uncorrected } from './changes.ts';
import type { ConversionRules } from './conversion.ts';
import { conversions } from './conversions.ts';
import type { Ledger } from './ledger/ledger.ts';
import { correctionTexts, reasonTexts } from './reasons.ts';
import type { Tool } from './sheet-format.ts';

/** What is known of a change besides itself. */
export interface ExplainOptions {
  /** The tool that the call was judged for. */
  readonly tool: Tool;
  /** The rules that it was judged by. */
  readonly rules: ConversionRules;
  /**
   * When what the ledger has of it was sent, in milliseconds since 1970: `ledger.sentAt`. Undefined
   * when no ledger was asked.
   */
  readonly sentAt?: number | null | undefined;
}

/** How a tool judges a call, and what it has of it. */
export interface JudgedCall {
  /** What the call changes of what the tool has. */
  readonly change: CallChange;
  /** See `ExplainOptions`. */
  readonly sentAt: number | null | undefined;
  /** The same as plain data. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a call is judged for. */
export interface Judging {
  /** What the tool is called in the answer. */
  readonly name: string;
  /** The tool. */
  readonly tool: Tool;
  /** The rules. */
  readonly rules: ConversionRules;
  /** What the ledger calls where the sheet or the push goes. */
  readonly destination: string;
}

/**
 * Judges one call as a sheet or a push with the same rules would. Null when it is not among `calls`.
 *
 * @param calls the call, after the earlier calls of its caller where the rules compare them.
 * @param ledger undefined when none is asked, null for one that does not exist yet.
 */
export async function judgeOne(
  call: Call,
  calls: readonly Call[],
  { name, tool, rules: given, destination }: Judging,
  ledger: Pick<Ledger, 'delivered' | 'sentAt'> | null | undefined,
): Promise<JudgedCall | null> {
  const rules = { ...given, from: String(call.date_added) };
  let change: CallChange | null = null;
  for await (const each of conversions(calls, rules, tool, ledger?.delivered(destination)))
    if (each.call?.sid === call.sid) change = each;
  if (change === null) return null;

  const { kind, why, conversion, entry } = change;
  const key = entry?.key ?? String(call.sid);
  const sentAt = ledger === undefined ? undefined : (ledger?.sentAt(destination, key) ?? null);
  const data = {
    sid: call.sid,
    tool: name,
    counts: conversion !== null,
    kind,
    why,
    value: conversion?.value ?? null,
    currency: conversion?.currency ?? null,
    sentAt: typeof sentAt === 'number' ? new Date(sentAt).toISOString() : null,
  };
  return { change, sentAt, data };
}

/**
 * Says in sentences why a call counts for a tool or does not, and what the tool has of it.
 *
 * @example
 * for await (const change of conversions([call], rules, format))
 *   for (const line of explainChange(change, { tool: format, rules })) console.log(line);
 */
export function explainChange(change: CallChange, options: ExplainOptions): string[] {
  const { tool, sentAt } = options;
  const { title = 'the tool' } = tool;
  const { call, conversion, why } = change;
  const lines: string[] = [];
  if (conversion === null) {
    lines.push(`no conversion for ${title}: ${textOf(why)}`);
    if (why === 'too_short') lines.push(talkText(call?.talk_minutes, options));
    const { where: chosen, exclude } = options.rules;
    if (why === 'not_chosen') lines.push(`not true of it: ${chosen}`);
    if (why === 'excluded') lines.push(`true of it: ${exclude}`);
    if (why === 'no_value' && typeof options.rules.value === 'object')
      for (const { name, where } of options.rules.value.rules)
        lines.push(`not true of it: ${name === undefined ? '' : `${name}: `}${where}`);
  } else {
    const { value, currency, click, rule } = conversion;
    const by = rule === null ? '' : ` by the rule ${JSON.stringify(rule)}`;
    const worth = value === null ? 'without a value' : `worth ${amountText(value, currency)}${by}`;
    const match =
      click === null ? 'the number of the caller' : `the click ${click.kind} ${click.id}`;
    lines.push(`a conversion for ${title}, ${worth}, matched by ${match}`);
  }

  return sentAt === undefined ? lines : [...lines, ...ledgerLines(change, options)];
}

const textOf = (why: Change['why']): string => {
  const texts: Readonly<Record<string, string>> = { ...reasonTexts, ...correctionTexts };
  return `${why}: ${texts[why ?? '']}`;
};

const amountText = (value: number, currency: string | null): string =>
  [value.toFixed(2), ...(currency === null ? [] : [currency])].join(' ');

function talkText(minutes: unknown, { tool, rules }: ExplainOptions): string {
  const least = durationMillis(rules.minTalk ?? tool.accepts.minTalk, 'minTalk') / second;
  const by = rules.minTalk === undefined ? ' of the tool' : '';
  return `they talked for ${String(minutes)} minutes; the minimum${by} is ${least} s`;
}

/** What the tool has, as the ledger says it, and what the next run does about it. */
function ledgerLines(change: CallChange, { rules, sentAt }: ExplainOptions): string[] {
  const { kind } = change;
  const zone = rules.timeZone ?? 'UTC';
  if (sentAt === undefined || sentAt === null)
    return kind === 'add' ? ['not sent yet: the next run sends it'] : ['it was not sent'];

  const sent = `sent on ${formatNaive(naiveAt(sentAt, zone))}, ${zone}`;
  if (kind === 'retract') return [`${sent}; the next run takes it back`];
  if (kind === 'restate') return [`${sent} with another value; the next run corrects it`];
  if (kind === 'add')
    return [`${sent} with another click, time or name; the next run sends it as it is now`];
  return [`${sent}${stateText(change)}`];
}

function stateText(change: Change): string {
  const { entry, why } = change;
  const what = uncorrected(change);
  if (what !== null) return `; the tool takes no correction of it: ${correctionTexts[what]}`;
  if (why === 'uncertain') return `; ${reasonTexts.uncertain}`;
  if (entry?.action === 'retract') return ', and taken back';
  return why === 'sent_before' ? ', as it is now' : '; it stays as it was sent';
}
