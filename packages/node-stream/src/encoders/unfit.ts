import { inCall } from '../accumulators/decimal.ts';
import { ItemError } from '../errors.ts';

/** A column of an item has half of a surrogate pair, which would be another character in the file. */
export function halfPair(column: string, item: unknown, format: 'CSV' | 'Parquet'): ItemError {
  return new ItemError('unfit_value', {
    message: `column ${column}${inCall(item)} has half of a surrogate pair, which ${format} has no form for`,
    hint: `replace it first, as in mapCalls((row) => ({ ...row, ${column}: row.${column}.toWellFormed() })), or write JSON, which keeps it`,
  });
}

/** The JSON of an item, or of one of its columns. What JSON has no form for is refused with the name of the column. */
export function jsonOf(value: unknown, item: unknown, column: string | null): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const [name, held] = (column === null ? unfitColumn(value) : null) ?? [column, value];
    throw unfitJson(name, held, item, cause);
  }
}

/** The first column of an item that has no JSON; null when the item has no columns. */
function unfitColumn(item: unknown): [string, unknown] | null {
  const entries = typeof item === 'object' && item !== null ? Object.entries(item) : [];
  const isUnfit = ([, value]: [string, unknown]): boolean => {
    try {
      JSON.stringify(value);
      return false;
    } catch {
      return true;
    }
  };
  return entries.find(isUnfit) ?? null;
}

function unfitJson(column: string | null, held: unknown, item: unknown, cause: unknown): ItemError {
  const place = column === null ? 'an item' : `column ${column}${inCall(item)}`;
  const [what, help] =
    typeof held === 'bigint'
      ? [
          'is a bigint, which JSON has no form for',
          `turn it into a string first: mapCalls(${column === null ? 'String' : `(row) => ({ ...row, ${column}: String(row.${column}) })`})`,
        ]
      : cause instanceof TypeError && cause.message.includes('BigInt')
        ? ['has a bigint in it, which JSON has no form for', 'turn it into a string first']
        : ['refers to itself or is nested too deep for JSON', 'leave it out'];
  return new ItemError('unfit_value', { message: `${place} ${what}`, hint: `${help}` }, { cause });
}
