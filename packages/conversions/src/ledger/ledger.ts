import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Clock, systemClock } from '@call-attribution/core/time';
import type { LedgerEntry, SeenRow } from '../entry.ts';
import { DeliveryError, damagedAt } from './errors.ts';
import { fileJournal, type Journal } from './journal.ts';

/** A file of a delivery: written under another name, then renamed. */
export interface DeliveredFile {
  /** Absolute path that it gets. */
  readonly path: string;
  /** Absolute path that it is written under. */
  readonly prepared: string;
  /** Number of its folder in the file system, by which another folder in its place is noticed. */
  readonly folder?: string | undefined;
}

/** Entries that go to a destination together. */
export interface Delivery {
  /** Random id. */
  readonly id: string;
  /** Where it goes. */
  readonly destination: string;
  /** When it was prepared, in milliseconds since 1970. */
  readonly preparedAt: number;
  /** The machine that has its files. */
  readonly host: string;
  /** Its files; empty when it is sent over the network. */
  readonly files: readonly DeliveredFile[];
  /** What it says about conversions. */
  readonly entries: readonly LedgerEntry[];
}

/**
 * What was uploaded to each destination. A delivery is prepared before anything leaves and
 * committed when it has left, so that after a crash it is known what was under way.
 */
export interface Ledger {
  /**
   * The latest entry of each conversion that was uploaded to a destination, by its key. A delivery
   * that is not finished counts: it may have left.
   */
  delivered(destination: string): ReadonlyMap<string, LedgerEntry>;
  /**
   * When the latest entry of a conversion was sent to a destination, in milliseconds since 1970;
   * null when there is none.
   */
  sentAt(destination: string, key: string): number | null;
  /** The delivery to a destination that was prepared and not finished; null when there is none. */
  pending(destination: string): Delivery | null;
  /** Every destination that something was ever prepared for. */
  destinations(): readonly string[];
  /**
   * Writes down which files are about to be written for a destination, in place of those that it
   * had: a run that is killed meanwhile leaves them, and the next one removes them. `prepare` ends
   * it.
   */
  announce(destination: string, files: readonly DeliveredFile[]): Promise<void>;
  /** The files that were announced for a destination, and of which no delivery came. */
  announced(destination: string): readonly DeliveredFile[];
  /**
   * Writes down what is about to be delivered. Throws when another delivery to the destination is
   * not finished.
   */
  prepare(
    destination: string,
    entries: readonly LedgerEntry[],
    files?: readonly DeliveredFile[],
  ): Promise<Delivery>;
  /**
   * Writes down that a delivery has left, except for what the destination refused. What is
   * uncertain stays so.
   */
  commit(delivery: Delivery, taken?: Taken): Promise<void>;
  /** Writes down that a delivery did not leave. */
  abandon(delivery: Delivery): Promise<void>;
  /** The naive time of the newest row of each outcome that was read and not sent, by its key. */
  seen(destination: string): ReadonlyMap<string, number>;
  /** Writes down rows of outcomes that were read and are not sent: older rows hold no longer. */
  note(destination: string, rows: readonly SeenRow[]): Promise<void>;
  /** Lets go of it, so that another process may use it. */
  close(): Promise<void>;
}

/** What the destination did not take of a delivery. */
export interface Taken {
  /** Keys of the conversions that it refused. */
  readonly except?: readonly string[];
  /** What it may have taken. */
  readonly uncertain?: readonly LedgerEntry[];
}

/** Settings of `openLedger`. */
export interface LedgerOptions {
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

type Line =
  | {
      readonly type: 'announced';
      readonly destination: string;
      readonly files: readonly DeliveredFile[];
    }
  | ({ readonly type: 'prepared' } & Delivery)
  | ({ readonly type: 'committed'; readonly id: string; readonly at: number } & Taken)
  | { readonly type: 'abandoned'; readonly id: string; readonly at: number }
  | {
      readonly type: 'seen';
      readonly destination: string;
      readonly rows: readonly SeenRow[];
    };

/** Earlier releases knew a conversion by its call, and wrote no key. */
const withKey = (entry: LedgerEntry): LedgerEntry =>
  entry.key === undefined ? { ...entry, key: entry.sid } : entry;

/**
 * Opens a ledger: in a file by its path, or in a journal of a store.
 *
 * @example
 * const ledger = await openLedger('uploads.ledger');
 * const delivery = await ledger.prepare('google-ads-clicks', entries);
 * await send(delivery.entries);
 * await ledger.commit(delivery);
 * await ledger.close();
 */
export async function openLedger(
  where: string | Journal,
  { clock = systemClock }: LedgerOptions = {},
): Promise<Ledger> {
  const host = hostname();
  const journal = await journalOf(where);
  const delivered = new Map<string, Map<string, LedgerEntry>>();
  const sentAt = new Map<string, Map<string, number>>();
  const open = new Map<string, Delivery>();
  const announced = new Map<string, readonly DeliveredFile[]>();
  const seen = new Map<string, Map<string, number>>();

  const apply = (line: Line): void => {
    if (line.type === 'seen') {
      const times = seen.get(line.destination) ?? new Map<string, number>();
      for (const { key, soldAt } of line.rows) times.set(key, soldAt);
      seen.set(line.destination, times);
      return;
    }

    if (line.type === 'announced' || line.type === 'prepared') {
      announced.set(line.destination, line.type === 'announced' ? line.files : []);
      if (!delivered.has(line.destination)) {
        delivered.set(line.destination, new Map());
        sentAt.set(line.destination, new Map());
      }
    }

    if (line.type === 'announced') return;
    if (line.type === 'prepared') {
      const { type: _, ...delivery } = line;
      open.set(delivery.id, { ...delivery, entries: delivery.entries.map(withKey) });
      return;
    }

    const delivery = open.get(line.id);
    open.delete(line.id);
    if (line.type === 'abandoned' || !delivery) return;
    const refused = new Set(line.except);
    const entries = delivered.get(delivery.destination);
    const times = sentAt.get(delivery.destination);
    for (const entry of delivery.entries) {
      if (refused.has(entry.key)) continue;
      entries?.set(entry.key, entry);
      times?.set(entry.key, delivery.preparedAt);
    }

    for (const entry of (line.uncertain ?? []).map(withKey))
      entries?.set(entry.key, { ...entry, uncertain: true });
  };

  const write = async (line: Line): Promise<void> => {
    await journal.append(JSON.stringify(line));
    apply(line);
  };

  const pending = (destination: string): Delivery | null =>
    [...open.values()].find((delivery) => delivery.destination === destination) ?? null;

  let count = 0;
  try {
    for await (const text of journal.read()) {
      count += 1;
      apply(JSON.parse(text) as Line);
    }
  } catch (error) {
    await journal.close();
    throw error instanceof SyntaxError ? damagedAt(`record ${count}`) : error;
  }

  return {
    delivered(destination) {
      const known = delivered.get(destination) ?? new Map<string, LedgerEntry>();
      const entries = pending(destination)?.entries ?? [];
      return new Map([...known, ...entries.map((entry) => [entry.key, entry] as const)]);
    },
    sentAt(destination, key) {
      const unfinished = pending(destination);
      const isUnfinished = unfinished?.entries.some((entry) => entry.key === key);
      if (unfinished && isUnfinished) return unfinished.preparedAt;
      return sentAt.get(destination)?.get(key) ?? null;
    },
    pending,
    destinations: () => [...delivered.keys()],
    announce: (destination, files) => write({ type: 'announced', destination, files }),
    announced: (destination) => announced.get(destination) ?? [],
    async prepare(destination, entries, files = []) {
      if (pending(destination))
        throw new DeliveryError(
          'unfinished',
          `A delivery to ${destination} is not finished. Commit or abandon it first.`,
        );

      const delivery = {
        id: randomUUID(),
        destination,
        preparedAt: clock.now(),
        host,
        files,
        entries,
      };
      await write({ type: 'prepared', ...delivery });
      return delivery;
    },
    commit: ({ id }, { except = [], uncertain = [] } = {}) =>
      write({
        type: 'committed',
        id,
        at: clock.now(),
        ...(except.length > 0 ? { except } : {}),
        ...(uncertain.length > 0 ? { uncertain } : {}),
      }),
    abandon: ({ id }) => write({ type: 'abandoned', id, at: clock.now() }),
    seen: (destination) => seen.get(destination) ?? new Map(),
    async note(destination, rows) {
      // A sheet of a feed may be fetched twice, or after a newer one.
      const known = seen.get(destination);
      const news = rows.filter(({ key, soldAt }) => soldAt > (known?.get(key) ?? -Infinity));
      if (news.length > 0) await write({ type: 'seen', destination, rows: news });
    },
    close: () => journal.close(),
  };
}

async function journalOf(where: string | Journal): Promise<Journal> {
  if (typeof where === 'string') return fileJournal(where);
  if (typeof where?.read === 'function') return where;
  throw new ConfigurationError(
    'invalid_option',
    "A ledger is opened by the path of its file, or with a journal such as store.journal('uploads').",
  );
}
