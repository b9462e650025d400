import { type Duration, durationMillis } from '@call-attribution/core/time';
import { WarehouseError } from '../errors.ts';
import type { Condition, Vocabulary } from '../where/condition.ts';
import { type Parameters, printCondition } from '../where/sql.ts';
import type { WorthRule, WorthRules } from './question.ts';
import { readWhere } from './resolve.ts';

const amount = /^\d{1,13}(?:\.\d{1,4})?$/;

/** What a call is worth by a rule table, as SQL. */
export function worthOf(table: WorthRules, vocabulary: Vocabulary): (parameters: Parameters) => string {
  const rules = table.rules.map((rule, i) => ({
    condition: conditionOf(rule, `values.rules[${i}]`, vocabulary),
    value: amountOf(rule.value, `values.rules[${i}].value`),
  }));
  const otherwise = table.otherwise === undefined ? null : amountOf(table.otherwise, 'values.otherwise');
  return (parameters) => {
    const put = (value: string) => `${parameters.put(value)}::DECIMAL(18,4)`;
    const cases = rules.map(
      ({ condition, value }) =>
        `WHEN ${printCondition(condition, vocabulary, parameters)} THEN ${put(value)}`,
    );
    const rest = otherwise === null ? 'NULL::DECIMAL(18,4)' : put(otherwise);
    return cases.length === 0 ? rest : `CASE ${cases.join(' ')} ELSE ${rest} END`;
  };
}

function conditionOf(rule: WorthRule, name: string, vocabulary: Vocabulary): Condition {
  const parts: Condition[] = [];
  const minutes = (operator: '>=' | '<', limit: Duration, option: string): Condition => ({
    kind: 'compare',
    field: 'talk_minutes',
    operator,
    value: { type: 'number', text: minutesOf(limit, `${name}.${option}`) },
  });
  if (rule.where !== undefined) parts.push(readWhere(rule.where, vocabulary, `${name}.where`).condition);
  if (rule.minTalk !== undefined) parts.push(minutes('>=', rule.minTalk, 'minTalk'));
  if (rule.maxTalk !== undefined) parts.push(minutes('<', rule.maxTalk, 'maxTalk'));
  if (rule.campaign !== undefined) parts.push(matches('ppc_campaign', rule.campaign));
  if (rule.label !== undefined) parts.push(matches('phone_label', rule.label));
  return { kind: 'and', parts };
}

/** A pattern with `*` as a condition. */
function matches(field: string, pattern: string): Condition {
  const escaped = pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
  return { kind: 'like', field, pattern: escaped, ignoreCase: true };
}

/** The least tenth of a minute, of which the API has whole ones. */
const minutesOf = (span: Duration, name: string): string =>
  String(Math.ceil(durationMillis(span, name) / 6_000) / 10);

function amountOf(value: unknown, name: string): string {
  const text = String(value);
  if (typeof value === 'number' && amount.test(text)) return text;
  throw new WarehouseError(
    'invalid_question',
    `${name} is ${JSON.stringify(value)}: expected a number from 0 up with at most 4 decimals.`,
  );
}
