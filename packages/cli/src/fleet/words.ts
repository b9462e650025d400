import type { AccountStatus, FleetStatus, WorkerStatus } from '@call-attribution/fleet';
import { count, plural, span } from '../term/numbers.ts';

// What a status says, in words. Where each figure goes is decided by the screens.

/** `running for 13 h 42 min`. */
export function stateText({ state, forMs, phases, parcels }: FleetStatus): string {
  const isWhole = phases.aside + parcels.aside === 0;
  const done = isWhole ? 'done' : 'done, except what is set aside';
  const words = { running: 'running for', paused: 'paused for', cancelled: 'cancelled', done }[state];
  return state === 'running' || state === 'paused' ? `${words} ${span(forMs)}` : words;
}

/** How much of the records is there, from 0 to 1. */
export function shareOf({ records, parcels }: FleetStatus): number {
  if (records.total > 0) return Math.min(1, records.done / records.total);
  return parcels.total > 0 ? Math.min(1, parcels.done / parcels.total) : 1;
}

/** `612,004,118 of 1,000,301,772 records`, `12,480 of 20,412 parcels`. */
export const progressTexts = ({ records, parcels }: FleetStatus): readonly string[] => [
  // Records that came late make more than were planned.
  `${count(records.done)} of ${count(Math.max(records.done, records.total))} records`,
  `${count(parcels.done)} of ${plural(parcels.total, 'parcel')}`,
];

/** `12,410 records/s`, `14.1 requests/s`, `about 8 h 41 min left`, and how rates hold it back. */
export function paceTexts(status: FleetStatus): readonly string[] {
  const { recordsPerSecond, requestsPerSecond, leftMs, rates, workers } = status;
  if (workers.length === 0) return [];
  return [
    ...(recordsPerSecond === null ? [] : [`${count(recordsPerSecond)} records/s`]),
    ...(requestsPerSecond === null ? [] : [`${requestsPerSecond.toFixed(1)} requests/s`]),
    ...(leftMs === null || leftMs === 0 || status.state !== 'running' ? [] : [`about ${span(leftMs)} left`]),
    ...rateTexts(rates),
  ];
}

/** How many credentials are at their rate, or asked to wait. */
export const rateTexts = ({ used, held }: FleetStatus['rates']): readonly string[] => [
  ...(used > 0 ? [`${plural(used, 'credential')} at the limit`] : []),
  ...(held > 0 ? [`${plural(held, 'credential')} asked to wait by the server`] : []),
];

/** `reading 311`, `closing 2`: the phases that have accounts, in the order in which accounts go through them. */
export function phaseTexts({ phases, syncLagMs }: FleetStatus): readonly string[] {
  const lag = syncLagMs === null ? '' : ` (last sync at most ${span(syncLagMs)} ago)`;
  return [
    `reading ${count(phases.reading)}`,
    ...(phases.closing > 0 ? [`closing ${count(phases.closing)}`] : []),
    ...(phases.syncing > 0 ? [`syncing ${count(phases.syncing)}${lag}`] : []),
    ...(phases.final > 0 ? [`final ${count(phases.final)}`] : []),
    ...(phases.aside > 0 ? [`set aside ${count(phases.aside)}`] : []),
  ];
}

/** How an account is, in one or two words. */
export function accountState({ phase, trouble }: AccountStatus): string {
  if (trouble?.kind === 'failing') return 'failing';
  return phase === 'aside' ? 'set aside' : phase;
}

/** Why an account does not get on; empty when it does. */
export function whyText({ trouble, parcels }: AccountStatus): string {
  if (trouble === null) return '';
  const { kind, code, message, forMs } = trouble;
  const reason = reasonText(code, message);
  if (kind === 'failing') return `${code} for ${span(forMs)}; tried again`;
  if (kind === 'parcels') return `${plural(parcels.aside, 'parcel')} set aside: ${reason}`;
  return reason;
}

/**
 * The code, and what happened in one sentence. Where it happened comes before it in a message, and the way out after it: the
 * command that helps has a line of its own.
 */
export function reasonText(code: string, message: string | null): string {
  const [first = ''] = (message ?? '')
    .replace(/^date_added .*?, page \d+: /, '')
    .split(/(?<=[.?!]) (?=[A-Z])/);
  const sentence = first.replace(/\.$/, '');
  return sentence === '' || sentence.startsWith(code) ? sentence || code : `${code}: ${sentence}`;
}

/** Why a worker does not work; empty when it does. */
export function workerWhy({ state, why, silentFor }: WorkerStatus): string {
  return state === 'silent' ? `no sign of life for ${span(silentFor)}; others have its work` : (why ?? '');
}
