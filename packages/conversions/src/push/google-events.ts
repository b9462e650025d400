import { createHash } from 'node:crypto';
import type { Acceptance, Consent, Conversion } from '../conversion.ts';

/** One event as the Data Manager API takes it. The names are those of its schema. */
export interface DataManagerEvent {
  /** The session id of the call. Sending it again changes the conversion instead of adding one. */
  readonly transactionId: string;
  /** When the call began, in UTC. */
  readonly eventTimestamp: string;
  /** When a restated value was found. */
  readonly lastUpdatedTimestamp?: string;
  /** Always a phone call. */
  readonly eventSource: 'PHONE';
  /** The click; one ID at most. */
  readonly adIdentifiers?: Readonly<Partial<Record<'gclid' | 'gbraid' | 'wbraid', string>>>;
  /** SHA-256 of the caller's number in the E.164 form. */
  readonly userData?: { readonly userIdentifiers: readonly { readonly phoneNumber: string }[] };
  /** What the caller agreed to. */
  readonly consent?: { readonly adUserData: ConsentStatus; readonly adPersonalization: ConsentStatus };
  /** What the conversion is worth; 0 for a call that no longer counts. */
  readonly conversionValue?: number;
  /** Currency of the value. */
  readonly currency?: string;
}

type ConsentStatus = 'CONSENT_GRANTED' | 'CONSENT_DENIED';

/**
 * Which calls the Data Manager API takes. With `phone`, calls without a click ID too: they are matched by the hashed number
 * of the caller, whose click Google remembers for 63 days.
 */
export function dataManagerAccepts({ phone }: { readonly phone: boolean }): Acceptance {
  return {
    matchBy: ['gclid', 'gbraid', 'wbraid', ...(phone ? (['caller number'] as const) : [])],
    onlyExtensions: false,
    needsFinalStatus: true,
    takesValue: true,
    minTalk: 30,
    minHours: 6,
    maxClickDays: phone ? 63 : 90,
  };
}

/** A change of what Google has: a conversion that is new, worth something else, or no longer one. */
export interface ConversionChange {
  /** What happened to it since it was sent. */
  readonly kind: 'add' | 'restate' | 'retract';
  /** The conversion as it is now; for one that no longer counts, as it was sent. */
  readonly conversion: Pick<
    Conversion,
    'sid' | 'orderId' | 'startedAt' | 'click' | 'callerNumber' | 'consent' | 'value' | 'currency'
  >;
}

/** The event of a conversion. The number of the caller is in it only when the caller agreed to that. */
export function dataManagerEvent({ kind, conversion }: ConversionChange, now: number): DataManagerEvent {
  const { click, callerNumber, consent, currency } = conversion;
  const value = kind === 'retract' ? 0 : conversion.value;
  const isGoogle = click?.kind === 'gclid' || click?.kind === 'gbraid' || click?.kind === 'wbraid';
  return {
    transactionId: conversion.orderId,
    eventTimestamp: new Date(conversion.startedAt).toISOString(),
    ...(kind === 'add' ? {} : { lastUpdatedTimestamp: new Date(now).toISOString() }),
    eventSource: 'PHONE',
    ...(click !== null && isGoogle ? { adIdentifiers: { [click.kind]: click.id } } : {}),
    ...(callerNumber !== null && consent?.adUserData === 'granted'
      ? { userData: { userIdentifiers: [{ phoneNumber: sha256(callerNumber) }] } }
      : {}),
    ...(consent === null ? {} : { consent: consentOf(consent) }),
    ...(value === null ? {} : { conversionValue: value }),
    ...(value === null || currency === null ? {} : { currency }),
  };
}

const consentOf = ({ adUserData, adPersonalization }: Consent) => ({
  adUserData: statusOf(adUserData),
  adPersonalization: statusOf(adPersonalization),
});

const statusOf = (agreed: 'granted' | 'denied'): ConsentStatus =>
  agreed === 'granted' ? 'CONSENT_GRANTED' : 'CONSENT_DENIED';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
