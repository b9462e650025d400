import type { Call } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { ValueRulesError } from './errors.ts';

/** One rule: all conditions must hold. Texts may use `*` for any run of letters; case does not matter. */
export interface ValueRule {
  readonly minMinutes?: number;
  readonly maxMinutes?: number;
  readonly campaign?: string;
  readonly label?: string;
  readonly value: number;
}

/** A rule table: the first rule that holds gives the value. */
export interface ValueRules {
  readonly rules: readonly ValueRule[];
  /** Value when no rule holds; without it such calls are left out. */
  readonly otherwise?: number;
}

const conditions = ['minMinutes', 'maxMinutes', 'campaign', 'label', 'value'];
const numbers = new Set(['minMinutes', 'maxMinutes', 'value']);

/** Reads a rule file; every fault names the place in the file. */
export function readValueRules(text: string, file: string): ValueRules {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ValueRulesError(
      `${file} is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`,
      {
        hints: [shape],
      },
    );
  }
  const table = fieldsOf(json, file, ['rules', 'otherwise']);
  if (!Array.isArray(table.rules))
    throw new ValueRulesError(`${file}: "rules" must be a list`, { hints: [shape] });
  const rules = table.rules.map((rule: unknown, at): ValueRule => {
    const where = `${file}: rule ${at + 1}`;
    const fields = fieldsOf(rule, where, conditions);
    for (const [name, value] of Object.entries(fields)) {
      if (numbers.has(name) ? !isAmount(value) : typeof value !== 'string') {
        throw new ValueRulesError(
          `${where}: "${name}" must be ${numbers.has(name) ? 'a number from 0 up' : 'a text'}`,
        );
      }
    }
    if (fields.value === undefined) throw new ValueRulesError(`${where} has no "value"`, { hints: [shape] });
    return fields as unknown as ValueRule;
  });
  if (table.otherwise === undefined || table.otherwise === null) return { rules };
  if (!isAmount(table.otherwise))
    throw new ValueRulesError(`${file}: "otherwise" must be a number from 0 up`);
  return { rules, otherwise: table.otherwise };
}

/** The value of a call by the rules, or null when it has none. */
export function valueByRules(call: Call, table: ValueRules): number | null {
  const minutes = Number(call.talk_minutes);
  for (const rule of table.rules) {
    if (rule.minMinutes !== undefined && !(minutes >= rule.minMinutes)) continue;
    if (rule.maxMinutes !== undefined && !(minutes < rule.maxMinutes)) continue;
    if (rule.campaign !== undefined && !matches(call.ppc_campaign, rule.campaign)) continue;
    if (rule.label !== undefined && !matches(call.phone_label, rule.label)) continue;
    return rule.value;
  }
  return table.otherwise ?? null;
}

const shape =
  'write it as { "rules": [{ "minMinutes": 10, "campaign": "Brand*", "value": 120 }], "otherwise": 20 }';

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

function fieldsOf(json: unknown, where: string, names: readonly string[]): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ValueRulesError(`${where} must be an object`, { hints: [shape] });
  }
  for (const name of Object.keys(json)) {
    if (names.includes(name)) continue;
    const near = nearest(name, names);
    throw new ValueRulesError(`${where} has an unknown name ${JSON.stringify(name)}`, {
      hints: [near ? `did you mean ${JSON.stringify(near)}?` : `known are ${names.join(', ')}`],
    });
  }
  return json as Record<string, unknown>;
}

function matches(text: unknown, pattern: string): boolean {
  if (typeof text !== 'string') return false;
  const parts = pattern.toLowerCase().split('*');
  const [head = '', ...tail] = parts;
  let rest = text.toLowerCase();
  if (tail.length === 0) return rest === head;
  if (!rest.startsWith(head)) return false;
  rest = rest.slice(head.length);
  const end = tail.pop() ?? '';
  for (const part of tail) {
    const at = rest.indexOf(part);
    if (at < 0) return false;
    rest = rest.slice(at + part.length);
  }
  return rest.endsWith(end);
}
