import { parseDuration } from '@call-attribution/core/time';
import { splitList } from '@call-attribution/questions';
import { type NamedReport, reportTimes } from '@call-attribution/settings';
import * as z from 'zod';
import type { Words } from '../configured.ts';
import { quotable } from '../privacy/text.ts';
import { invalid, unknownName } from '../text/failures.ts';

/** The argument of `analyze_calls` where the operator has reports with names. */
export const reportShape = ({ reports }: Pick<Words, 'reports'>) => ({
  report: z
    .string()
    .max(100)
    .optional()
    .describe(
      `A report of the operator; other arguments replace its own: ${[...reports].slice(0, 20).map(titled).join('; ')}`,
    ),
});

const titled = ([name, { title }]: readonly [string, NamedReport]): string =>
  title === undefined ? name : `${name} (${quotable(title)})`;

/**
 * The arguments of a call that names a report, with what stands beside the name in place of what the
 * report says. `account` is among them where the report names some.
 */
export function withReport(
  { report: called, ...typed }: Record<string, unknown>,
  { reports }: Pick<Words, 'reports'>,
): Record<string, unknown> {
  if (called === undefined) return typed;
  const name = String(called);
  const report = reports.get(name);
  if (report === undefined) throw unknownName('There is no report', name, [...reports.keys()]);

  const own = argumentsOf(report);
  if (reportTimes.some((time) => typed[time] !== undefined))
    for (const time of reportTimes) delete own[time];
  return { ...own, ...typed };
}

const listOf = (text: string): readonly string[] => splitList(text).map((part) => part.trim());

/** What a report says, as arguments. What only the terminal does with it is left out. */
function argumentsOf(report: NamedReport): Record<string, unknown> {
  const { by = 'day', measures, where, q, limit, account } = report;
  const { period, from, to, order, compare, spend, outcomes, 'min-talk': minTalk } = report;
  const conditions = [
    ...(where === undefined ? [] : [where]),
    ...(minTalk === undefined ? [] : [talkOf(minTalk)]),
  ];
  const isOfAll = report['include-extensions'] === 'true' || /\binc_gce:1\b/.test(q ?? '');
  const given: Record<string, unknown> = {
    group_by: listOf(by),
    measures: measures && listOf(measures),
    where: conditions.map((each) => `(${each})`).join(' AND ') || undefined,
    q,
    limit: limit && Number(limit),
    period,
    from,
    to,
    order,
    compare,
    spend: spend && listOf(spend),
    spend_columns: report['spend-columns'],
    outcomes: outcomes && listOf(outcomes),
    outcome_dates: report['outcome-dates'],
    outcome_window: outcomes && report['outcome-window'],
    calls: isOfAll ? 'all' : undefined,
    no_exclude: report['no-exclude'] === 'true' || undefined,
    account: account === undefined || account === 'all' ? undefined : listOf(account),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The least talk of a report as a condition, in the tenths of a minute that the API has. */
function talkOf(minTalk: string): string {
  const talk = parseDuration(minTalk);
  if (talk >= 0) return `talk_minutes >= ${Math.ceil(talk / 6_000) / 10}`;
  throw invalid(
    'invalid_report',
    'min-talk of the report must be a duration such as 90s or 10m.',
    'Tell the user to correct the configuration file.',
  );
}
