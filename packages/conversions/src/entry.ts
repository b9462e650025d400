import type { ClickIdName } from '@call-attribution/questions';
import type { Consent } from './consent.ts';
import type { Conversion } from './conversion.ts';

/** What was uploaded of one conversion, and how it was changed later. It has no personal data. */
export interface LedgerEntry {
  /** `add`: it was uploaded. `restate`: its value was corrected. `retract`: it was taken back. */
  readonly action: 'add' | 'restate' | 'retract';
  /** What the conversion is known by, in the ledger and where the tool takes an ID. */
  readonly key: string;
  /** Session id of the call. */
  readonly sid: string;
  /** Account of the call. */
  readonly account: string;
  /** The click it was matched by; null when that was the number of the caller. */
  readonly click: { readonly kind: ClickIdName; readonly id: string } | null;
  /** When the call began, or when the outcome was sent to be, in milliseconds since 1970. */
  readonly at: number;
  /** Conversion action, goal or type. */
  readonly name: string;
  /** The value as last uploaded. */
  readonly value: number | null;
  /** Currency of the value. */
  readonly currency: string | null;
  /**
   * What the caller agreed to, where the rules say it: what may have been lost is sent again with
   * it.
   */
  readonly consent?: Consent;
  /**
   * The number of the caller goes with it. It is in no ledger: only while the call can be read is
   * it sent again as it was.
   */
  readonly byNumber?: true;
  /**
   * Its answer was lost and it cannot be sent again as it was: nobody knows whether the tool has
   * it.
   */
  readonly uncertain?: true;
  /** Of an outcome: the naive time of the row that was sent. */
  readonly soldAt?: number;
}

/** The newest row of an outcome, of which nothing was sent. It has no personal data. */
export interface SeenRow {
  /** What the outcome is known by. */
  readonly key: string;
  /** Session id of its call; null where it has none. */
  readonly sid: string | null;
  /** Account of its call; null where it has none. */
  readonly account: string | null;
  /** The naive time of the row. */
  readonly soldAt: number;
}

/** What the ledger keeps of a conversion that is new. */
export function entryOf(conversion: Conversion): LedgerEntry {
  const { key, sid, account, click, at, name, value, currency, consent } = conversion;
  return {
    action: 'add',
    key,
    sid,
    account,
    click,
    at,
    name,
    value,
    currency,
    ...(consent === null ? {} : { consent }),
    ...(conversion.callerNumber === null ? {} : { byNumber: true }),
  };
}
