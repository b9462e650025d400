import { isCallExtension, phoneKey } from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';
import { tenthsOf } from './columns.ts';
import type { Driver } from './database/driver.ts';
import { readColumns } from './read.ts';
import { everything, type Selection } from './selection.ts';

/** Fields of text that the page of the service groups by. */
export const groupedFields = ['ppc_campaign', 'ppc_keywords', 'landing_page', 'referrer', 'channel'] as const;

/** One of these fields. */
export type GroupedField = (typeof groupedFields)[number];

/** What can be counted of some calls without their records: a list for each column, all of one length. */
export interface ScannedCalls {
  /** `date_added` in seconds since 1970 on the clock of the API; null when it is not a time. */
  readonly at: readonly (number | null)[];
  /** `talk_minutes` in tenths; null when it is not a number of tenths. */
  readonly tenths: readonly (number | null)[];
  /** Whether the call came through a call extension. */
  readonly isExtension: readonly boolean[];
  /** Whether it is the first call of its caller to the account. */
  readonly isFirst: readonly boolean[];
  /** The values of each field of the part, in the order of the fields. */
  readonly values: readonly (readonly (string | null)[])[];
}

/** What is known of an account when its calls are scanned. */
export interface ScanStart {
  /** See {@link Store.revision}. */
  readonly position: number;
  /** Calls of the account, whatever is selected. */
  readonly calls: number;
  /** Time of its first call, `YYYY-MM-DD HH:MM:SS`; null without calls that have a time. */
  readonly earliest: string | null;
  /** Time of its last call. */
  readonly latest: string | null;
}

/** What a part of a scan reads. */
export interface ScanPart {
  /** Which calls. Those through call extensions are read in any case. */
  readonly selection: Selection;
  /** Which of their fields, by which calls are grouped. */
  readonly fields: readonly GroupedField[];
}

/** Takes what is read. */
export interface ScanTaker {
  /** Takes some calls of a part, counted from 0. */
  take(calls: ScannedCalls, part: number): void;
  /** A part was read to its end. */
  end?(part: number): void;
}

/** Reads what can be counted of calls, one part after the other. */
export async function scanCalls(
  driver: Driver,
  account: string,
  parts: readonly ScanPart[],
  taker: ScanTaker,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const first = new Map<string, { sid: unknown; isTimeless: boolean }>();
  for await (const { columns } of readColumns(
    driver,
    account,
    everything,
    ['ani', 'sid', 'date_added'],
    signal,
  ))
    for (const [i, ani] of (columns.ani ?? []).entries()) {
      const caller = phoneKey(ani);
      const isTimeless = Number.isNaN(parseNaive(columns.date_added?.[i]));
      const known = first.get(caller);
      if (/^[0-9]{1,18}$/.test(caller) && (known === undefined || (known.isTimeless && !isTimeless)))
        first.set(caller, { sid: columns.sid?.[i], isTimeless });
    }
  const firsts = new Set([...first.values()].map(({ sid }) => sid));
  for (const [i, { selection, fields }] of parts.entries()) {
    const names = ['date_added', 'talk_minutes', 'channel', 'sid', ...fields];
    for await (const { columns } of readColumns(
      driver,
      account,
      { ...selection, extensions: true },
      names,
      signal,
    )) {
      const list = (name: string) => columns[name] ?? [];
      taker.take(
        {
          at: list('date_added').map((time) => {
            const millis = parseNaive(time);
            return Number.isNaN(millis) ? null : millis / 1000;
          }),
          tenths: list('talk_minutes').map((text) => (typeof text === 'string' ? tenthsOf(text) : null)),
          isExtension: list('channel').map((channel) => isCallExtension({ channel })),
          isFirst: list('sid').map((sid) => firsts.has(sid)),
          values: fields.map((name) => list(name).map((value) => (typeof value === 'string' ? value : null))),
        },
        i,
      );
    }
    taker.end?.(i);
  }
}
