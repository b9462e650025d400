import type { Ledger, LedgerEntry } from '@call-attribution/conversions';
import type { Feed, Once } from './feed.ts';

/** What the ledger calls a feed in the period of a time; null for a feed that repeats its window. */
export function periodOf({ path, once }: Feed, now: number): string | null {
  if (once === undefined) return null;
  return `feed ${path} ${new Date(Math.floor(now / once.every) * once.every).toISOString()}`;
}

/** Whether a call was in the feed in an earlier period. */
export function earlierIn({ path, once }: Feed, period: string | null): (orderId: string) => boolean {
  if (once === undefined) return () => false;
  const { ledger } = once;
  const earlier = ledger
    .destinations()
    .filter((name) => name !== period && name.startsWith(`feed ${path} `))
    .map((name) => ledger.delivered(name));
  return (orderId) => earlier.some((entries) => entries.has(orderId));
}

const noting = new WeakMap<Ledger, Promise<void>>();

/** Notes that the calls of a period were sent whole. A ledger takes one note after the other. */
export function noteSent({ ledger }: Once, period: string, entries: readonly LedgerEntry[]): Promise<void> {
  const note = async (): Promise<void> => {
    const unfinished = ledger.pending(period);
    if (unfinished) await ledger.abandon(unfinished);
    const known = ledger.delivered(period);
    const news = entries.filter(({ orderId }) => !known.has(orderId));
    if (news.length > 0) await ledger.commit(await ledger.prepare(period, news));
  };
  const done = (noting.get(ledger) ?? Promise.resolve()).then(note);
  noting.set(
    ledger,
    done.catch(() => undefined),
  );
  return done;
}
