import type { Settings } from '@call-attribution/core/settings';
import { type Condition, fieldsOf, fold, type Literal, parseCondition } from '@call-attribution/questions';
import type { Args } from '../args/command.ts';

/**
 * The condition of --where; null for none. Accounts may be called by their names in the configuration file or by their IDs: `as` says
 * which of them calls are counted under.
 */
export function whereOf(
  args: Args,
  { accounts }: Pick<Settings, 'accounts'>,
  as: 'id' | 'name',
): Condition | string | null {
  const where = args.has('where') ? args.text('where') : null;
  if (where === null) return null;
  const read = parseCondition(where);
  // A condition that cannot be read is explained where it is asked.
  if (!read.ok || !fieldsOf(read.condition).has('account')) return where;
  const counted = (value: Literal, isExact: boolean): Literal => {
    if (value.type !== 'text') return value;
    const key = isExact ? (text: string) => text : fold;
    const known = accounts.find(({ name, id }) => [name, id].some((text) => key(text) === key(value.text)));
    return known === undefined ? value : { ...value, text: known[as] };
  };
  return withAccounts(read.condition, counted);
}

function withAccounts(
  condition: Condition,
  counted: (value: Literal, isExact: boolean) => Literal,
): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, parts: condition.parts.map((part) => withAccounts(part, counted)) };
    case 'not':
      return { ...condition, part: withAccounts(condition.part, counted) };
    case 'compare':
      if (condition.field !== 'account') return condition;
      return { ...condition, value: counted(condition.value, condition.operator === '==') };
    case 'in':
      if (condition.field !== 'account') return condition;
      return {
        ...condition,
        values: condition.values.map((value) => counted(value, condition.exact === true)),
      };
    default:
      return condition;
  }
}
