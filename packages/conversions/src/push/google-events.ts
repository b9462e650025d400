import { createHash } from 'node:crypto';
import { type Acceptance, type Consent, usualAcceptance } from '../conversion.ts';
import type { ConversionChange } from './push.ts';

/**
 * Which calls the Data Manager API takes. With `phone`, calls without a click ID too: they are matched by the hashed number
 * of the caller, whose click Google remembers for 63 days.
 */
export function dataManagerAccepts({ phone }: { readonly phone: boolean }): Acceptance {
  return {
    ...usualAcceptance,
    matchBy: ['gclid', 'gbraid', 'wbraid', ...(phone ? (['caller number'] as const) : [])],
    clickWindow: phone ? '63d' : '90d',
  };
}

/**
 * The event of a change. The number of the caller is in it only when the caller agreed to that, and not next to a `gbraid`
 * or `wbraid`, which stand for many clicks.
 */
export function dataManagerEvent(change: ConversionChange, now: number): object {
  const { entry, consent } = change;
  const { action, click, currency } = entry;
  const value = action === 'retract' ? 0 : entry.value;
  const phone = phoneOf(change);
  return {
    transactionId: entry.orderId,
    eventTimestamp: new Date(entry.at).toISOString(),
    ...(action === 'add' ? {} : { lastUpdatedTimestamp: new Date(now).toISOString() }),
    eventSource: 'PHONE',
    ...(click === null ? {} : { adIdentifiers: { [click.kind]: click.id } }),
    ...(phone === null ? {} : { userData: { userIdentifiers: [{ phoneNumber: sha256(phone) }] } }),
    ...(consent === null ? {} : { consent: consentOf(consent) }),
    ...(value === null ? {} : { conversionValue: value }),
    ...(value === null || currency === null ? {} : { currency }),
  };
}

/** Can Google find the click of a change? Without a click ID it needs a number that the caller agreed to share. */
export function isMatchable(change: ConversionChange): boolean {
  return change.entry.click !== null || phoneOf(change) !== null;
}

/** The number of the caller, where it is sent. */
export function phoneOf({ entry, callerNumber, consent }: ConversionChange): string | null {
  const isOneClick = entry.click === null || entry.click.kind === 'gclid';
  return isOneClick && consent?.adUserData === 'granted' ? callerNumber : null;
}

const consentOf = ({ adUserData, adPersonalization }: Consent) => ({
  adUserData: statusOf(adUserData),
  adPersonalization: statusOf(adPersonalization),
});

const statusOf = (agreed: 'granted' | 'denied'): string =>
  agreed === 'granted' ? 'CONSENT_GRANTED' : 'CONSENT_DENIED';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
