import { propertyOf } from '@call-attribution/core/errors';

/** Lists of ids in a line of a ledger: the calls that a destination has refused. */
const listsOfIds: ReadonlySet<string> = new Set(['except']);

/**
 * A line of a ledger without what it says about some calls: lists of JSON lose the items with their
 * `sid` and `account`, which is null where an item has none, and lists of ids lose theirs. Any other
 * line stays as it is.
 */
export function withoutCalls(
  line: string,
  isGone: (sid: string, account: string | null) => boolean,
): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line;
  }

  let isChanged = false;

  const isKept = (item: unknown, isId: boolean): boolean => {
    const sid = isId ? item : propertyOf(item, 'sid');
    if (sid === undefined) return true;
    const account = isId ? undefined : propertyOf(item, 'account');
    const isWanted = !isGone(String(sid), account === undefined ? null : String(account));
    isChanged ||= !isWanted;
    return isWanted;
  };

  const text = JSON.stringify(value, (name, inner: unknown) =>
    Array.isArray(inner) ? inner.filter((item) => isKept(item, listsOfIds.has(name))) : inner,
  );
  return isChanged ? text : line;
}
