import { propertyOf } from '@call-attribution/core/errors';

/**
 * A line of a ledger without what it says about some calls: lists of JSON lose the items with their
 * `sid` and `account`, which is null where an item has none. Any other line stays as it is.
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

  const isKept = (item: unknown): boolean => {
    const sid = propertyOf(item, 'sid');
    if (sid === undefined) return true;
    const account = propertyOf(item, 'account');
    const isWanted = !isGone(String(sid), account === undefined ? null : String(account));
    isChanged ||= !isWanted;
    return isWanted;
  };

  const text = JSON.stringify(value, (_, inner: unknown) =>
    Array.isArray(inner) ? inner.filter(isKept) : inner,
  );
  return isChanged ? text : line;
}
